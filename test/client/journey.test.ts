import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "bun:test";
import * as client from "../../src/client/client.ts";
import { startBrowser } from "../support/browser.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { buildPackage, readModule } from "../support/client/package.ts";
import { travel } from "../support/client/journey.ts";
import type { Journal } from "../support/client/journey.ts";
import { runNode } from "../support/client/node.ts";

const LARGEST = { id: "9223372036854775807n", name: "Monstera deliciosa", tag: "tropical" };
const SMALLEST = { id: "-9223372036854775808n", name: "Ginkgo biloba" };
const LARGE = { id: "9007199254740993n", name: "Yucca \u{1f335} \u0000", tag: "a&b=c+d é" };

const EXPECTED: Journal = {
  "create the largest id": JSON.stringify({ plant: LARGEST, etag: "…" }),
  "create the smallest id": JSON.stringify({ plant: SMALLEST, etag: "…" }),
  "create an id past 2^53": JSON.stringify({ plant: LARGE, etag: "…" }),
  "create the same again": JSON.stringify({ plant: SMALLEST, etag: "…" }),
  "create another under that id": "409 40900 with a request id, repeatable",
  find: JSON.stringify({ plant: LARGEST, etag: "…" }),
  "find none": "nothing",
  "a page": JSON.stringify({ plants: [SMALLEST, LARGE], next: { limit: 2, after: LARGE.id } }),
  "the next page": JSON.stringify({ plants: [LARGEST] }),
  "list over pages": JSON.stringify([SMALLEST.id, LARGE.id, LARGEST.id]),
  "list a tag": JSON.stringify([LARGE.id]),
  search: JSON.stringify([LARGEST.name]),
  "put, only if new": JSON.stringify({ plant: { id: "1n", name: "Acer" }, etag: "…", isNew: true }),
  "put, only if new, again": "412 41200 with a request id",
  put: JSON.stringify({ plant: { id: "1n", name: "Acer palmatum", tag: "tree" }, etag: "…", isNew: false }),
  "patch what was seen": JSON.stringify({ plant: { id: "1n", name: "Acer palmatum" }, etag: "…" }),
  "patch what is no more so": "412 41200 with a request id",
  "patch none": "404 40401 with a request id",
  remove: "true",
  "remove again": "false",
  "import plants": JSON.stringify({ read: 2, created: 2, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [] }),
  "import a file of CSV": JSON.stringify({
    read: 2,
    created: 0,
    unchanged: 0,
    replaced: 1,
    refused: 1,
    problems: [
      {
        line: 3,
        error: 40005,
        message: "The field `id` must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes.",
      },
    ],
    unusedColumns: [],
  }),
  "import a stream, dry": JSON.stringify({ read: 1, created: 1, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [] }),
  "import text that is cut in a character": JSON.stringify({
    read: 1,
    created: 1,
    unchanged: 0,
    replaced: 0,
    refused: 0,
    problems: [],
    unusedColumns: [],
  }),
  "find its name": "\u{1f335}",
  "count tags": JSON.stringify([{ tag: "tree", plants: 1 }]),
  export: `{"id":-9223372036854775808,"name":"Ginkgo biloba"}
{"id":-7,"name":"Other"}
{"id":9007199254740993,"name":"Yucca \u{1f335} \\u0000","tag":"a&b=c+d é"}
{"id":9007199254740995,"name":"Tilia","tag":"tree"}
{"id":9223372036854775807,"name":"Monstera deliciosa","tag":"tropical"}
`,
  "export CSV": [
    "catalogNumber,scientificName,tag",
    "-9223372036854775808,Ginkgo biloba,",
    "-7,Other,",
    "9007199254740993,Yucca \u{1f335} \u0000,a&b=c+d é",
    "9007199254740995,Tilia,tree",
    "9223372036854775807,Monstera deliciosa,tropical",
    "",
  ].join("\n"),
  "exported plants": JSON.stringify([SMALLEST.id, "-7n", LARGE.id, "9007199254740995n", LARGEST.id]),
  "make a token": JSON.stringify(["plants:read"]),
  "ask who the token is": JSON.stringify([true, "journey", ["plants:read"], "first"]),
  "use the token": JSON.stringify({ plant: { id: "9007199254740995n", name: "Tilia", tag: "tree" }, etag: "…" }),
  "revoke the token": "true",
  "revoke an unknown token": "false",
  "list tokens": JSON.stringify([
    ["first", false],
    ["journey", true],
  ]),
  "ask who a wrong token is": "401 40101 with a request id, repeatable",
  "find with a wrong token": "401 40101 with a request id, repeatable",
  "import with a wrong token": "401 40101 with a request id, repeatable",
  abort: "Error: enough",
};

describe("the client", () => {
  let service: TestService;
  let folder: string;
  let script: string;
  beforeAll(async () => {
    folder = buildPackage();
    script = join(folder, "journey.mjs");
    await Bun.build({ entrypoints: [join(PROJECT, "test/support/client/journey.ts")], outdir: folder, naming: "journey.mjs" });
  });
  beforeEach(async () => {
    service = await startTestService();
  });
  afterEach(() => service.stop());

  it("does the same in Bun, from the source", async () => {
    expect(await travel({ client, url: service.url, token: service.token })).toEqual(EXPECTED);
  });

  it("does the same in Node, as published", async () => {
    const text = `
      import * as client from "plant-store/client";
      const [script, url, token] = process.argv.slice(1);
      const { travel } = await import(script);
      console.log(JSON.stringify(await travel({ client, url, token })));
    `;
    expect(await runNode({ text, words: [script, service.url, service.token], cwd: folder })).toEqual(EXPECTED);
  });

  it("does the same in Chromium, as published", async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`${service.url}/livez`);
      const modules = [readModule(folder), readFileSync(script, "utf8")];
      const journal = await page.evaluate(
        async ({ modules: texts, url, token }) => {
          const imports = texts.map(
            (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" }))) as Promise<unknown>,
          );
          const [built, journey] = (await Promise.all(imports)) as [typeof client, { travel: typeof travel }];
          return journey.travel({ client: built, url, token });
        },
        { modules, url: service.url, token: service.token },
      );
      expect(journal).toEqual(EXPECTED);
    } finally {
      await browser.close();
    }
  });

  it("is packed by npm with its types", () => {
    const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: folder, encoding: "utf8" });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).toContain("dist/client/client.js");
    expect(paths).toContain("dist/client/client.d.ts");
  });
});

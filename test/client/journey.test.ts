import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "bun:test";
import type { Browser, Page } from "playwright-core";
import * as client from "../../src/client/client.ts";
import { startBrowser } from "../support/browser.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT, startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken, startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { installClient, readModule } from "../support/client/package.ts";
import { travel } from "../support/client/journey.ts";
import type { Journal } from "../support/client/journey.ts";
import { runNode } from "../support/client/node.ts";
import { buildPage } from "../support/client/vite-page.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
  "change: create": '[["changed"]]',
  "change: as it is already": '[["same"]]',
  "change: another is there": '[["conflict",{"id":"3n","name":"Betula","tag":"tree"}]]',
  "change: delete": '[["changed"]]',
  "change: none is there": '[["conflict",null]]',
  "change: no plant at all": "TypeError: A change has no plant in from or to: give at least one.",
  "change: several requests": "[2500,2500]",
  "change: one after the other": '["changed","changed","changed"]',
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
  "import a stream, dry": JSON.stringify({
    read: 1,
    created: 1,
    unchanged: 0,
    replaced: 0,
    refused: 0,
    problems: [],
    unusedColumns: [],
    outcomes: ["created"],
  }),
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
  count: JSON.stringify({ plants: 5, precision: "exact" }),
  "count what has a tag": JSON.stringify({ plants: 1, precision: "exact" }),
  "count tags of what has a tag": JSON.stringify([{ tag: "tree", plants: 1 }]),
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
    folder = installClient();
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
      import * as client from "plant-store-client";
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
});

/** In a page that Vite built: the client as published, and the journey. */
declare const built: { client: typeof client; travel: typeof travel };

describe("in a page that Vite built, on another origin, the client", () => {
  let browser: Browser;
  let folder: string;
  /** Two servers of the same page: the service allows the first. */
  let garden: Bun.Server<undefined>;
  let stranger: Bun.Server<undefined>;
  beforeAll(async () => {
    folder = buildPage();
    [garden, stranger] = [serve(), serve()];
    browser = await startBrowser();
  });
  afterAll(() => Promise.all([browser.close(), garden.stop(true), stranger.stop(true)]));

  function serve(): Bun.Server<undefined> {
    return Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch({ url }) {
        const { pathname } = new URL(url);
        return new Response(Bun.file(join(folder, pathname === "/" ? "index.html" : pathname)));
      },
    });
  }

  async function open({ url }: Bun.Server<undefined>): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(url.href);
    await page.waitForFunction(() => "built" in globalThis);
    return page;
  }

  function startAllowing(flags: Record<string, string> = {}): Promise<TestService> {
    return startTestService({ origins: garden.url.origin, ...flags });
  }

  it("does the same, each error included, once the service allows the origin", async () => {
    const service = await startAllowing();
    const page = await open(garden);
    const journal = await page.evaluate(({ url, token }) => built.travel({ client: built.client, url, token }), {
      url: service.url,
      token: service.token,
    });
    expect(journal).toEqual(EXPECTED);
    await service.stop();
  });

  it("learns how long it has to wait", async () => {
    const service = await startAllowing({ tokenRequestsPerMinute: "1" });
    const page = await open(garden);
    const waits = await page.evaluate(
      async ({ url, token }) => {
        const plants = built.client.createClient({ url, token, retries: 0 });
        await plants.find(1n);
        return plants.find(1n).catch((thrown: client.ServiceError) => [thrown.error, (thrown.retryAfterMs ?? 0) > 0]);
      },
      { url: service.url, token: service.token },
    );
    expect(waits).toEqual([42900, true]);
    await service.stop();
  });

  async function createAndFind(page: Page, { url, token }: Pick<TestService, "token" | "url">): Promise<unknown[]> {
    return page.evaluate(
      async (service) => {
        const plants = built.client.createClient({ ...service, retries: 0 });
        const created = plants.create({ id: 1n, name: "Ficus" });
        return [await created.then(({ plant }) => plant.name, String), await plants.find(2n).catch(String)];
      },
      { url, token },
    );
  }

  it("can do nothing on an origin that is not allowed, not even store a plant without reading the response", async () => {
    const service = await startAllowing();
    const failure = (request: string) => expect.stringContaining(`ConnectionError: ${request} could not connect`) as unknown;
    expect(await createAndFind(await open(stranger), service)).toEqual([failure("POST /plants"), failure("GET /plants/2")]);
    expect((await service.request("/plants/1")).status).toBe(404);
    await service.stop();
  });

  it("would visibly do so if every origin were allowed", async () => {
    const root = plantBugs([{ file: "src/http/cross-origin.ts", from: "allowed.has(origin)", to: "allowed.size > 0" }]);
    const data = temporaryFolder();
    const service = await startProcess({ data, root, flags: [...PATIENT, "--origins", garden.url.origin] });
    expect(await createAndFind(await open(stranger), { url: service.url, token: await readToken(data) })).toEqual(["Ficus", undefined]);
    await service.end("SIGTERM");
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { toText } from "../../src/domain/plant.ts";
import { runCommand } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { check } from "../support/web/page-import.ts";

const CSV = "id,name\n1,Acer\n";
const NDJSON = '{"id":1,"name":"Acer"}\n';
const LIST = '[{"id":1,"name":"Acer"}]';

/** The format of files with these names and texts. */
const FILES = [
  // The extension decides, but for objects of JSON.
  ["a.csv", CSV, "csv"],
  ["object.csv", NDJSON, "ndjson"],
  ["empty.csv", "", "csv"],
  ["a.tsv", "id\tname\n1\tAcer\n", "csv"],
  ["UPPER.CSV", CSV, "csv"],
  ["rows.NDJSON", CSV, "ndjson"],
  ["list.ndjson", LIST, "ndjson"],
  ["empty.jsonl", "", "ndjson"],
  // The beginning decides if the name does not.
  ["rows.txt", CSV, "csv"],
  ["objects.TXT", NDJSON, "ndjson"],
  ["objects.json", NDJSON, "ndjson"],
  ["rows", CSV, "csv"],
  ["csv", NDJSON, "ndjson"],
  ["a.csv.bak", NDJSON, "ndjson"],
  ["marked-rows", `\ufeff${CSV}`, "csv"],
  ["marked-objects", `\ufeff${NDJSON}`, "ndjson"],
  ["space-before-rows", `\r\n \t\n${CSV}`, "csv"],
  ["space-before-objects", `\r\n \t\n${NDJSON}`, "ndjson"],
  ["quoted", '"id","name"\n1,Acer\n', "csv"],
  ["no-plant", "Dear all,\n", "csv"],
  // Empty, like an export of no plants.
  ["empty", "", "ndjson"],
  ["space", " \r\n\t\n", "ndjson"],
  ["mark", "\ufeff", "ndjson"],
].map(([name, text, format]) => ({ name: name!, text: text!, format: format as "csv" | "ndjson" }));

const ITEMS = `[
  {"id": 9223372036854775807, "name": "Acer [\\"red\\"]", "tag": "{"},{"id":2,
  "name":"Rosa,"}
]`;
const LINES = ITEMS.slice(1, -2).trim().replace("},{", "}\n{").replace(",\n", ",\t");
const LISTS: readonly { name: string; text: string }[] = [
  { name: "list.json", text: ITEMS },
  { name: "list.txt", text: `\n${ITEMS}` },
  { name: "list", text: `\ufeff${ITEMS}\n` },
];

/** The types of the bodies that a service would receive. */
const sent: (string | null)[] = [];
const bodies: string[] = [];
const recorder = Bun.serve({
  port: 0,
  async fetch(request) {
    sent.push(request.headers.get("content-type"));
    bodies.push(await request.text());
    return Response.json({ read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0, problems: [] });
  },
});
afterAll(() => recorder.stop(true));
beforeEach(() => void (sent.length = bodies.length = 0));

const client = createClient({ url: recorder.url, token: "t" });

function importByCommand(files: readonly { name: string; text: string }[]) {
  const folder = temporaryFolder();
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  const words = ["import", "--url", recorder.url.href, ...files.map(({ name }) => join(folder, name))];
  return runCommand(words, { environment: { PLANT_STORE_TOKEN: "t" } });
}

describe("the format of a file", () => {
  it("is the same for the page, the client and the command, by its name or else its beginning", async () => {
    const expected = FILES.map(({ name, format }) => `${name}: ${format}`);
    const byPage: string[] = [];
    for (const { name, text } of FILES) byPage.push(`${name}: ${(await check(text, name)).kind}`);
    expect(byPage).toEqual(expected);

    const types = { csv: "text/csv", ndjson: "application/x-ndjson" } as const;
    for (const { name, text } of FILES) await client.importPlants(new File([text], name));
    expect(sent).toEqual(FILES.map(({ format }) => types[format]));

    bodies.length = 0;
    const read = FILES.filter(({ text, name }) => text.includes("Acer") && !/^(rows|list)\.ndjson$/i.test(name));
    expect(await importByCommand(read)).toMatchObject({ status: 0 });
    expect(bodies.map((body) => body.trim())).toEqual(read.map(() => NDJSON.trim()));
  });

  for (const { name, text } of LISTS) {
    it(`is NDJSON for all three if it is one JSON list, as in ${name}`, async () => {
      const { plants, ...checked } = await check(text, name);
      expect(checked).toMatchObject({ kind: "ndjson", lines: [1, 2], refused: 0 });
      expect(plants.map(({ plant }) => toText(plant)).join("\n")).toBe(LINES.replace(/(?<=[:,])\s+/g, ""));
      await client.importPlants(new File([text], name));
      expect(await importByCommand([{ name, text }])).toMatchObject({ status: 0, stderr: expect.stringContaining("one JSON list") });
      expect(sent).toEqual(["application/x-ndjson", "application/x-ndjson"]);
      expect(bodies.map((body) => body.trim())).toEqual([LINES, LINES.replace(/(?<=[:,])\s+/g, "")]);
    });
  }

  it("is NDJSON too if a JSON list is packed, and goes into a data folder as it goes into a service", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "list.json.gz");
    writeFileSync(file, Bun.gzipSync(Buffer.from(ITEMS)));
    const data = ["--data", join(folder, "data")];
    expect(await runCommand(["import", file, ...data])).toMatchObject({ status: 0, stdout: expect.stringContaining("2 created") });
    expect((await runCommand(["export", ...data])).stdout.split("\n")[1]).toBe(LINES.split("\n")[0]!.replace(/(?<=[:,]) /g, ""));
  });

  it("is also found from the beginning of text and bytes, unless the caller gives it", async () => {
    for (const given of [CSV, new TextEncoder().encode(CSV), new Blob([CSV])]) await client.importPlants(given);
    await client.importPlants(CSV, { format: "ndjson" });
    expect(sent).toEqual(["text/csv", "text/csv", "text/csv", "application/x-ndjson"]);
  });

  it("follows from the name of the file in an export as in an import", async () => {
    const folder = temporaryFolder();
    const data = ["--data", join(folder, "data")];
    writeFileSync(join(folder, "a.csv"), CSV);
    await runCommand(["import", join(folder, "a.csv"), ...data]);
    for (const name of ["b.tsv", "b.CSV.gz", "b"]) {
      const file = join(folder, name);
      expect(await runCommand(["export", file, ...data])).toMatchObject({ status: 0 });
      const { status, stdout } = await runCommand(["import", file, ...data]);
      expect({ name, status, stdout }).toEqual({ name, status: 0, stdout: expect.stringContaining("1 unchanged") });
    }
  });

  it("is found from the beginning of a pipe, even byte by byte", async () => {
    const words = ["src/main.ts", "import", "--url", recorder.url.href];
    const child = Bun.spawn([process.execPath, ...words], {
      cwd: join(import.meta.dir, "../.."),
      env: { PLANT_STORE_TOKEN: "t" },
      stdin: "pipe",
    });
    for (const letter of `\ufeff\n${CSV}`) {
      void child.stdin.write(letter);
      await child.stdin.flush();
      await Bun.sleep(5);
    }
    await child.stdin.end();
    expect(await child.exited).toBe(0);
    expect(bodies.map((body) => body.trim())).toEqual([NDJSON.trim()]);
  });
});

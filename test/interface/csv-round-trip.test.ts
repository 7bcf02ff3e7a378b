import { afterAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { createClient } from "../../src/client/client.ts";
import { bytesOf } from "../../src/files/bytes.ts";
import { readFile } from "../../src/files/read-file.ts";
import { createFindings } from "../../src/files/row.ts";
import { CSV_HEADER, csvWriter } from "../../src/files/csv-writer.ts";
import type { ImportSummary } from "../../src/files/import.ts";
import { parsePlant } from "../../src/domain/validation.ts";
import { seedOf } from "../support/random.ts";
import { startTestService } from "../support/service.ts";
import { openTransfers } from "../support/transfers.ts";
import { check, send } from "../support/web/page-import.ts";

const seed = seedOf("csv-round-trip");
const CSV = { type: "text/csv" };

const service = await startTestService();
afterAll(() => service.stop());

type Written = Readonly<{ id: bigint; name: string; tag: string | undefined }>;
type Counts = Pick<ImportSummary, "read" | "created" | "unchanged" | "replaced" | "refused">;

/** What means something in CSV, to a spreadsheet, or to any reader of ours. */
const PIECES = [
  ["0", "7", "a", "é", "weiß–", "Ð", "🌿", " ", "\u00a0", "\u2028", "\u0085", "\0", "\ufeff", "\ufffd", "\ufdd0#"],
  [",", ";", "\t", "|", '"', '""', "'", "=", "+", "-", "@", "＝", "\\", "#", "[", "{", "}"],
  ["\n", "\r", "\r\n", "\n5,Evil,tree\n", '\n6,"Evil",\n', "\r5;Evil;\r", "id,name,tag", "catalogNumber", "sep=;", "sep=,\n"],
  ["1.000", "4.00638E+12", "#N/A", "null", "NULL", "NA", "\\N", " (rounded to 15 digits by Excel)", "<?xml", "PK\u0003\u0004"],
].flat();
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join(""));
const id = fc.oneof(
  fc.bigInt({ min: -9n, max: 9n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 53n + 1n, 123_456_789_012_345_678n, 2n ** 63n - 1n),
);
const plants = fc.uniqueArray(fc.record({ id, name: text, tag: fc.option(text, { nil: undefined }) }), {
  selector: (plant) => plant.id,
  minLength: 1,
  maxLength: 6,
});

function toNdjson(written: readonly Written[]): string {
  const sorted = written.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  return sorted.map(({ id: number, ...texts }) => `{"id":${number},${JSON.stringify(texts).slice(1)}\n`).join("");
}

/** A text as `guardFormulas` is documented to write it. */
function guarded(plain: string): string {
  const sign = "[=+\\-@＝＋－＠]";
  const inside = plain.replaceAll(new RegExp(`([;\\t\\r\\n]"*)(?=${sign})`, "g"), "$1'");
  return new RegExp(`^(${sign}|[\\t\\r\\n])`).test(plain) ? `'${inside}` : inside;
}

/** Imports a file as the page does. */
async function throughPage(file: Uint8Array): Promise<Counts> {
  const client = createClient({ url: service.url, token: service.token });
  return (await send(await check(file), client, "replace")).counts;
}

const { importAll, exportAll } = openTransfers(service);
const importCsv = (file: Uint8Array) => importAll(file, { ...CSV, query: "?onConflict=replace" });
const importGuessed = (file: Uint8Array) => importAll(file, { ...CSV, query: "?onConflict=replace&reading={}" });

const WAYS = { "the service": importCsv, "the service, which guesses": importGuessed, "the page": throughPage };

async function exported(query: string): Promise<Uint8Array> {
  return new Uint8Array(await (await service.request(`/plants/export${query}`)).arrayBuffer());
}

async function clear(): Promise<void> {
  const ids = Array.from((await exportAll()).matchAll(/^{"id":(-?\d+)/gm), ([, one]) => one!);
  await Promise.all(ids.map((one) => service.request(`/plants/${one}`, { method: "DELETE" })));
}

const NONE = { created: 0, unchanged: 0, replaced: 0, refused: 0 };

/** Whether these plants come back from a file as they were, to a store that has them and to an empty one. */
async function expectRoundTrip(written: readonly Written[], query: string, come: (file: Uint8Array) => Promise<Counts>): Promise<void> {
  await clear();
  await importAll(toNdjson(written));
  const file = await exported(query);
  const isGuarded = query.includes("guard");
  if (!isGuarded) expect(await come(file)).toMatchObject({ ...NONE, unchanged: written.length });
  await clear();
  expect(await come(file)).toMatchObject({ ...NONE, created: written.length });
  const guard = (one: Written) => ({ id: one.id, name: guarded(one.name), tag: one.tag === undefined ? undefined : guarded(one.tag) });
  expect(await exportAll()).toBe(toNdjson(isGuarded ? written.map(guard) : written));
}

it("a name that holds a row is a name in the file, and no plant", async () => {
  const file = Buffer.from(CSV_HEADER.plain + csvWriter({ guardFormulas: false })({ id: 9n, name: "list:\n5,Evil,tree\nend", tag: "x" }));
  const source = { format: "csv", bytes: bytesOf(new Blob([file]).stream()) } as const;
  const rows = await Array.fromAsync(readFile(source, { parsePlant, lineBytesMax: 1000 }, createFindings()));
  expect(rows.flat().flatMap((row) => ("plant" in row ? [row.plant.id as bigint] : []))).toEqual([9n]);
});

it("plants that go out as NDJSON come back as they were, and replace nothing", async () => {
  const importNdjson = (file: Uint8Array) => importAll(file, { query: "?onConflict=replace" });
  await fc.assert(
    fc.asyncProperty(plants, (written) => expectRoundTrip(written, "?format=ndjson", importNdjson)),
    { seed, numRuns: 15 },
  );
});

describe("plants that go out as CSV come back as they were, and replace nothing, through", () => {
  for (const query of ["?format=csv", "?profile=dwc", "?guardFormulas=true"]) {
    for (const [way, come] of Object.entries(WAYS)) {
      it(`${way}, from /plants/export${query}`, async () => {
        await fc.assert(
          fc.asyncProperty(plants, (written) => expectRoundTrip(written, query, come)),
          { seed, numRuns: 15 },
        );
      });
    }
  }
});

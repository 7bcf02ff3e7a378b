import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "bun:test";
import { readBackup } from "../../src/files/backup-file.ts";
import { BackupError } from "../../src/files/backup-lines.ts";
import { newPlace, openGarden } from "../support/backup-garden.ts";
import { endOf, linesOf, runOn } from "../support/backups.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const garden = await openGarden("SQLite");
afterAll(() => garden.service.stop());

/** Reads a file as a restore does. */
async function read(bytes: Uint8Array): Promise<unknown> {
  async function* whole() {
    yield bytes;
  }
  try {
    let end: unknown;
    for await (const part of readBackup(whole())) end = part.end;
    return end;
  } catch (reason) {
    return reason;
  }
}

describe("a file that is not as it was written", () => {
  const small = (() => {
    const lines = linesOf(garden.file).filter((line) => line.length < 300);
    const body = lines.slice(0, -1);
    return [...body, endOf(body)];
  })();
  const unpacked = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  const text = unpacked(small);
  const packed = gzipSync(text);

  it("is read while it is whole", async () => {
    expect(await read(packed)).toMatchObject({ plants: 5, tokens: 6 });
  });

  it("is refused when it was cut off anywhere", async () => {
    for (let length = 0; length < packed.length; length += 1)
      expect(await read(packed.subarray(0, length)), `${length}`).toBeInstanceOf(BackupError);
  });

  it("is refused when any bit of what it holds has changed", async () => {
    const whole = await read(packed);
    let meaningless = 0;
    for (let at = 0; at < packed.length * 8; at += 3) {
      const changed = Uint8Array.from(packed);
      changed[at >> 3]! ^= 1 << (at & 7);
      const outcome = await read(changed);
      // A time in the head of gzip, and what fills its last byte, mean nothing.
      if (outcome instanceof BackupError) continue;
      expect(outcome, `bit ${at}`).toEqual(whole);
      meaningless += 1;
    }
    expect(meaningless).toBeLessThan(40);
  });

  const [head, ...rest] = small;
  const newer = head!.replace('"format":1', '"format":2');
  const withEnd = (lines: readonly string[]) => gzipSync(unpacked([...lines, endOf(lines)]));
  const body = small.slice(0, -1);
  /** The file with something else in a line, and an end that fits. */
  const edited = (from: RegExp | string, to: string) => withEnd(body.map((line) => line.replace(from, to)));
  const UNKNOWN = 'with "note", which this version does not know: restore it with the version that wrote it.';
  for (const { what, file, message } of [
    { what: "two in a row", file: Buffer.concat([packed, packed]), message: "something follows its end" },
    { what: "something behind it", file: Buffer.concat([packed, gzipSync("{}\n")]), message: "something follows its end" },
    { what: "half a line behind it", file: gzipSync(`${text}x`), message: "it ends too early" },
    { what: "no line at its end", file: gzipSync(text.trimEnd()), message: "it ends too early" },
    { what: "a plant less", file: gzipSync(unpacked(small.toSpliced(-3, 1))), message: "its checksum differs" },
    {
      what: "two plants in another order",
      file: gzipSync(unpacked(small.toSpliced(-3, 2, small.at(-2)!, small.at(-3)!))),
      message: "its plants are not in the order of their ids",
    },
    { what: "a plant twice", file: withEnd([...body, body.at(-1)!]), message: "its plants are not in the order of their ids" },
    { what: "a token twice", file: withEnd(body.toSpliced(1, 0, body[1]!)), message: "it has a token twice" },
    {
      what: "two tokens with one secret",
      file: withEnd(body.toSpliced(1, 0, body[1]!.replace(/"id":"[^"]+"/, '"id":"other"'))),
      message: "it has a token twice",
    },
    {
      what: "a field beside its head",
      file: withEnd(body.with(0, head!.replace(/\}$/, ',"note":"x"}'))),
      message: `has a head ${UNKNOWN}`,
    },
    { what: "a field in its head", file: withEnd(body.with(0, head!.replace(/\}\}$/, ',"note":"x"}}'))), message: `has a head ${UNKNOWN}` },
    {
      what: "a field beside its end",
      file: gzipSync(unpacked([...body, small.at(-1)!.replace(/\}$/, ',"note":"x"}')])),
      message: `has an end ${UNKNOWN}`,
    },
    {
      what: "a field in its end",
      file: gzipSync(unpacked([...body, small.at(-1)!.replace(/\}\}$/, ',"note":"x"}}')])),
      message: `has an end ${UNKNOWN}`,
    },
    { what: "a time that no date has", file: edited(/"created":\d+/, '"created":9007199254740991'), message: "a time is not as written" },
    { what: "a time with a fraction", file: edited(/"created":\d+/, '"created":1.5'), message: "a number is not as written" },
    {
      what: "a token whose name is longer than any",
      file: edited('"name":"reader"', `"name":"${"x".repeat(1001)}"`),
      message: "a text of a token is not as written",
    },
    {
      what: "a token whose id has a NUL, which PostgreSQL does not take",
      file: edited('{"token":{"id":"', '{"token":{"id":"\\u0000'),
      message: "an id of a token is not as written",
    },
    ...["", "..", "a/b", "a b", "ü", "x".repeat(65)].map((id) => ({
      what: `a token that no path of the interface can name: ${JSON.stringify(id)}`,
      file: edited(/\{"token":\{"id":"\w+"/, `{"token":{"id":${JSON.stringify(id)}`),
      message: "an id of a token is not as written",
    })),
    {
      what: "a field of a token that this version would lose",
      file: edited('"name":"reader"', '"name":"reader","note":"x"'),
      message: `has a token ${UNKNOWN}`,
    },
    {
      what: "a scope that this version would lose",
      file: edited('"plants:read"', '"plants:prune"'),
      message: 'has a token with "plants:prune", which this version does not know',
    },
    {
      what: "a field beside a token that this version would lose",
      file: edited(/^\{"token":(.+)\}$/, '{"token":$1,"note":"x"}'),
      message: `has a token ${UNKNOWN}`,
    },
    { what: "a list in place of a scope", file: edited('"plants:read"', '["plants:read"]'), message: "a text is not as written" },
    { what: "an object in place of a scope", file: edited('"plants:read"', '{"toString":1}'), message: "a text is not as written" },
    {
      what: "a field of a plant that this version would lose",
      file: edited('"added"', '"place":"x","added"'),
      message: 'has a plant with "place", which this version does not know',
    },
    { what: "another digit", file: gzipSync(text.replace('"id":1,', '"id":7,')), message: "its checksum differs" },
    { what: "no end", file: gzipSync(unpacked(small.slice(0, -1))), message: "it ends too early" },
    {
      what: "a newer format",
      file: gzipSync(unpacked([newer, ...rest])),
      message: "in format 2: restore it with that version or a newer one",
    },
    { what: "no head", file: gzipSync(unpacked(rest)), message: "is not a backup of Plant Store" },
    { what: "an export", file: Buffer.from('{"id":1,"name":"Aloe"}\n'), message: "is not a backup of Plant Store" },
    { what: "a packed export", file: gzipSync('{"id":1,"name":"Aloe"}\n'), message: "is not a backup of Plant Store" },
    { what: "nothing", file: Buffer.alloc(0), message: "is not a backup of Plant Store" },
    { what: "a database", file: Buffer.from("SQLite format 3\0".padEnd(4096, "\0")), message: "is not a backup of Plant Store" },
    { what: "a line without end", file: gzipSync(Buffer.alloc(3_000_000, 120)), message: "is not a backup of Plant Store" },
  ]) {
    it(`is refused with ${what}, and nothing is made of it`, async () => {
      const path = join(temporaryFolder(), "file.gz");
      writeFileSync(path, file);
      const place = await newPlace("SQLite");
      const { status, stdout, stderr } = await runOn(place, ["restore", path]);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toStartWith(`plant-store: ${path} `);
      expect(stderr).toContain(message);
      expect(existsSync(place["data"]!)).toBe(false);
    });
  }
});

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
  const withEnd = (lines: readonly string[]) => gzipSync(unpacked([...lines, endOf(lines)]));
  const body = small.slice(0, -1);
  /** The file with something else in a line, and an end that fits. */
  const edited = (from: RegExp | string, to: string) => withEnd(body.map((line) => line.replace(from, to)));
  /** The end with something else in it. */
  const withOtherEnd = (from: RegExp, to: string) => gzipSync(unpacked([...body, small.at(-1)!.replace(from, to)]));
  const withOtherHead = (from: RegExp | string, to: string) => withEnd(body.with(0, head!.replace(from, to)));
  const withTokenId = (id: string) => edited(/\{"token":\{"id":"\w+"/, `{"token":{"id":${JSON.stringify(id)}`);
  const UNKNOWN = 'with "note", which this version does not know: restore it with the version that wrote it.';
  const [ORDER, NO_BACKUP] = ["its plants are not in the order of their ids", "is not a backup of Plant Store"];
  for (const [what, file, message] of [
    ["two in a row", Buffer.concat([packed, packed]), "something follows its end"],
    ["something behind it", Buffer.concat([packed, gzipSync("{}\n")]), "something follows its end"],
    ["half a line behind it", gzipSync(`${text}x`), "it ends too early"],
    ["no line at its end", gzipSync(text.trimEnd()), "it ends too early"],
    ["no end", gzipSync(unpacked(body)), "it ends too early"],
    ["a plant less", gzipSync(unpacked(small.toSpliced(-3, 1))), "its checksum differs"],
    ["another digit", gzipSync(text.replace('"id":1,', '"id":7,')), "its checksum differs"],
    ["two plants in another order", gzipSync(unpacked(small.toSpliced(-3, 2, small.at(-2)!, small.at(-3)!))), ORDER],
    ["a plant twice", withEnd([...body, body.at(-1)!]), ORDER],
    ["a token twice", withEnd(body.toSpliced(1, 0, body[1]!)), "it has a token twice"],
    ["two tokens with one secret", withEnd(body.toSpliced(1, 0, body[1]!.replace(/"id":"[^"]+"/, '"id":"other"'))), "it has a token twice"],
    ["a field beside its head", withOtherHead(/\}$/, ',"note":"x"}'), `has a head ${UNKNOWN}`],
    ["a field in its head", withOtherHead(/\}\}$/, ',"note":"x"}}'), `has a head ${UNKNOWN}`],
    ["a field beside its end", withOtherEnd(/\}$/, ',"note":"x"}'), `has an end ${UNKNOWN}`],
    ["a field in its end", withOtherEnd(/\}\}$/, ',"note":"x"}}'), `has an end ${UNKNOWN}`],
    ["a time that no date has", edited(/"created":\d+/, '"created":9007199254740991'), "a time is not as written"],
    ["a time with a fraction", edited(/"created":\d+/, '"created":1.5'), "a number is not as written"],
    ["a token whose name is longer than any", edited('"reader"', `"${"x".repeat(1001)}"`), "a text of a token is not as written"],
    ["a token whose id has a NUL, which PostgreSQL does not take", withTokenId("\0x"), "an id of a token is not as written"],
    ...["", "..", "a/b", "a b", "ü", "x".repeat(65)].map(
      (id) => [`a token that no path can name: ${JSON.stringify(id)}`, withTokenId(id), "an id of a token is not as written"] as const,
    ),
    ["a field of a token that this version would lose", edited('"name":"reader"', '"name":"reader","note":"x"'), `has a token ${UNKNOWN}`],
    [
      "a field beside a token that this version would lose",
      edited(/^\{"token":(.+)\}$/, '{"token":$1,"note":"x"}'),
      `has a token ${UNKNOWN}`,
    ],
    [
      "a scope that this version would lose",
      edited('"plants:read"', '"plants:prune"'),
      'with "plants:prune", which this version does not know',
    ],
    [
      "a field of a plant that this version would lose",
      edited('"added"', '"place":"x","added"'),
      'with "place", which this version does not',
    ],
    ["a list in place of a scope", edited('"plants:read"', '["plants:read"]'), "a text is not as written"],
    ["an object in place of a scope", edited('"plants:read"', '{"toString":1}'), "a text is not as written"],
    ["a newer format", withOtherHead('"format":1', '"format":2'), "in format 2: restore it with that version or a newer one"],
    ["no head", gzipSync(unpacked(rest)), NO_BACKUP],
    ["an export", Buffer.from('{"id":1,"name":"Aloe"}\n'), NO_BACKUP],
    ["a packed export", gzipSync('{"id":1,"name":"Aloe"}\n'), NO_BACKUP],
    ["nothing", Buffer.alloc(0), NO_BACKUP],
    ["a database", Buffer.from("SQLite format 3\0".padEnd(4096, "\0")), NO_BACKUP],
    ["a line without end", gzipSync(Buffer.alloc(3_000_000, 120)), NO_BACKUP],
  ] as const)
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
});

import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "bun:test";
import { datedName, removeOldBackups } from "../../src/cli/backup-folder.ts";
import { readBackup } from "../../src/files/backup-file.ts";
import { BackupError } from "../../src/files/backup-lines.ts";
import { ask, look, newPlace, openGarden } from "../support/backup-garden.ts";
import { contentsOf, endOf, linesOf, runOn } from "../support/backups.ts";
import { ENGINES } from "../support/engines.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const folder = temporaryFolder();
const gardens = await Promise.all(ENGINES.map(({ engine }) => openGarden(engine, folder)));
afterAll(() => Promise.all(gardens.map(({ service }) => service.stop())));
const [garden] = gardens as [(typeof gardens)[number]];

describe("plant-store backup, while the service runs, and restore on another engine", () => {
  for (const { engine, file, seen, secrets, told } of gardens) {
    it(`says what it wrote, in a file that only its owner may read, from ${engine}`, () => {
      expect([told.status, told.stderr]).toEqual([0, ""]);
      expect(told.stdout).toMatch(new RegExp(`^${file}: 6 plants and 6 tokens, \\d+ kB, written and checked in [\\d.]+ s\n$`));
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder).filter((name) => name.includes(".part"))).toEqual([]);
    });

    for (const { engine: other } of ENGINES.filter((one) => one.engine !== engine)) {
      it(`brings all back, from ${engine} to ${other}: plants, orders, tags and tokens in every state`, async () => {
        const place = await newPlace(other);
        const restored = await runOn(place, ["restore", file]);
        expect([restored.status, restored.stderr]).toEqual([0, ""]);
        expect(restored.stdout).toMatch(
          /\nRestored 6 plants and 6 tokens in [\d.]+ s\.\nTokens that were revoked after .* are valid again/,
        );
        const again = join(temporaryFolder(), "again.gz");
        expect(await runOn(place, ["backup", again])).toMatchObject({ status: 0, stderr: "" });
        expect(contentsOf(again)).toEqual(contentsOf(file));
        const service = await startTestService(place);
        try {
          // No first token is made when tokens came back.
          expect([service.tokenFile, existsSync(join(place["data"]!, "first-token"))]).toEqual([undefined, false]);
          await until("The index is built", async () => (await ask(service, secrets.admin, "/plants?sort=name"))[0] !== 503);
          expect(await look(service, secrets)).toEqual(seen);
          expect((await ask(service, secrets.admin, "/plants/9007199254740993"))[0]).toBe(200);
        } finally {
          await service.stop();
        }
      });
    }
  }
});

describe("plant-store backup", () => {
  it("goes to a new file, and only with --force to one that is there", async () => {
    const own = temporaryFolder();
    const file = join(own, "file.gz");
    writeFileSync(file, "precious");
    const { status, stderr } = await runOn(garden.place, ["backup", file]);
    expect([status, stderr]).toEqual([1, `plant-store: ${file} already exists: name another file, or overwrite it with --force.\n`]);
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect((await runOn(garden.place, ["backup", file, "--force"])).status).toBe(0);
    expect(contentsOf(file).length).toBeGreaterThan(0);
    for (const [path, message] of [
      ["/dev/null", "/dev/null is not a file that can be read back: name another one."],
      ["-", "- is not a file that can be read back: name another one."],
      [join(garden.place["data"]!, "plants.db"), "has the name of a file of a store"],
      [join(own, "none", "file.gz"), "There is no folder"],
    ] as const) {
      const refused = await runOn(garden.place, ["backup", path, "--force"]);
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(message)]);
    }
  });

  const dated = (year: number) => `plant-store-${year}-01-01T00-00-00Z.gz`;

  it("names its file in a folder by the time, removes old backups of this store, those of a clock that was ahead first, and no other file", async () => {
    const own = temporaryFolder();
    const copyAs = (name: string, from = garden.file) => copyFileSync(from, join(own, name));
    const precious = [dated(2001), `${dated(2099)}.part`, "plants.gz", "plant-store-x.gz"];
    for (const name of precious) writeFileSync(join(own, name), "precious");
    copyAs(dated(2002), gardens[1]!.file);
    symlinkSync(garden.file, join(own, dated(2003)));
    // Someone has put it aside.
    copyAs(`${dated(2000)}.kept`);
    const others = readdirSync(own);
    for (const year of [2097, 2098, 2004, 2005]) copyAs(dated(year));
    const { status, stdout, stderr } = await runOn(garden.place, ["backup", own, "--keep", "2"]);
    expect([status, stderr]).toEqual([0, ""]);
    const removed = [2097, 2098, 2004].map((year) => `removed ${join(own, dated(year))}`);
    expect(stdout.split("\n").filter((line) => line.startsWith("removed"))).toEqual(removed);
    const left = readdirSync(own).filter((name) => !others.includes(name));
    expect(left.toSorted()).toEqual([dated(2005), expect.stringMatching(/^plant-store-20\d\d-\d\d-\d\dT\d\d-\d\d-\d\dZ\.gz$/)]);
    expect(readdirSync(own)).toEqual(expect.arrayContaining(others));
    for (const name of precious) expect(readFileSync(join(own, name), "utf8")).toBe("precious");
    const one = await runOn(garden.place, ["backup", join(own, "x.gz"), "--keep", "2"]);
    expect([one.status, one.stderr]).toEqual([
      1,
      `plant-store: ${own}/x.gz is not a folder: --keep needs one, in which it removes old backups.\n`,
    ]);
  });

  it("keeps a backup in its folder that was made while it was written", async () => {
    const own = temporaryFolder();
    const madeBefore = (minutes: number) => datedName(own, new Date(Date.now() - minutes * 60_000));
    const [newest, meanwhile, old] = [madeBefore(60), madeBefore(30), madeBefore(90)];
    for (const path of [newest, meanwhile, old]) copyFileSync(garden.file, path);
    const { store } = (JSON.parse(linesOf(garden.file)[0]!) as { backup: { store: string } }).backup;
    expect(await removeOldBackups(newest, { keep: 2, store })).toEqual([old]);
  });

  it("removes the parts that killed backups left in its folder, once they are old, and no other part", async () => {
    const own = temporaryFolder();
    const partOf = (name: string, pid: number) => join(own, `${name}.${pid}-${"0".repeat(18)}.part`);
    const backup = dated(2004);
    const left = partOf(backup, 4_194_305);
    // Its process may be one of another container.
    const young = partOf(backup, 4_194_306);
    const others = [partOf(backup, process.pid), partOf("plants.gz", 4_194_305), join(own, `${backup}.mine.part`)];
    for (const path of [left, young, ...others]) writeFileSync(path, "part");
    const aDayAgo = new Date(Date.now() - 24 * 3_600_000);
    for (const path of [left, ...others]) utimesSync(path, aDayAgo, aDayAgo);
    // In a container each command has the same number of a process.
    const sameNumber = `part=${own}/${backup}.$$-${"1".repeat(18)}.part; touch -d yesterday "$part" && exec "$@"`;
    const { status } = await runOn(garden.place, ["backup", own], { under: ["bash", "-c", sameNumber, "bash"] });
    expect(status).toBe(0);
    expect([left, young, ...others].map((path) => existsSync(path))).toEqual([false, true, true, true, true]);
    expect(readdirSync(own).filter((name) => name.endsWith(`-${"1".repeat(18)}.part`))).toEqual([]);
  });

  for (const time of [-1n, 1n << 60n]) {
    it(`holds a token with the time ${time}, which only a damaged store has, as one that can be restored`, async () => {
      const place = await newPlace("SQLite");
      expect((await runOn(place, ["restore", garden.file])).status).toBe(0);
      const db = new DatabaseSync(join(place["data"]!, "plants.db"));
      db.exec(`UPDATE tokens SET created = ${time}, revoked = revoked * 0 + ${time} WHERE name = 'revoked'`);
      db.close();
      const file = join(temporaryFolder(), "file.gz");
      for (const words of [
        ["token", "list"],
        ["backup", file],
        ["restore", file, "--dry-run"],
      ])
        expect([words[0], (await runOn(place, words)).status]).toEqual([words[0], 0]);
    });
  }

  it("removes no old backup if it has no plants, and says so: its store may have been lost and created again", async () => {
    const place = await newPlace("SQLite");
    const own = temporaryFolder();
    expect((await runOn(place, ["restore", garden.file])).status).toBe(0);
    expect((await runOn(place, ["backup", join(own, dated(2004))])).status).toBe(0);
    rmSync(place["data"]!, { recursive: true });
    await (await startTestService(place)).stop();
    const { status, stdout } = await runOn(place, ["backup", own, "--keep", "1"]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/: 0 plants and 1 token, .*\nno older backup was removed, as this one has no plants\n$/),
    ]);
    expect(readdirSync(own)).toHaveLength(2);
  });
});

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

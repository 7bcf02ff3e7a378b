import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "bun:test";
import { expectUnused } from "../../src/store/contents.ts";
import { ask, issue, newPlace, openGarden } from "../support/backup-garden.ts";
import { contentsOf, endOf, linesOf, runOn, writeLines } from "../support/backups.ts";
import { ENGINES } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { cleanEnvironment, PROJECT, startProcess } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import type { Place } from "../support/backups.ts";
import type { TestService } from "../support/service.ts";

const garden = await openGarden("SQLite");
afterAll(() => garden.service.stop());

describe("plant-store backup, in trouble or beside many creates,", () => {
  /** Pairs of which the second, which is read first, is created after the first was answered. How many are in a backup, and torn. */
  async function backUpPairs(engine: string) {
    const place = await newPlace(engine);
    const service = await startTestService(place);
    const many = Array.from({ length: 30_000 }, (_, at) => `{"id":${at},"name":"Aloe vera ${at}"}\n`);
    const imported = await service.request("/plants/import", {
      method: "POST",
      body: many.join(""),
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(imported.status).toBe(200);
    let pairs = 0;
    let isDone = false;
    async function create(): Promise<void> {
      while (!isDone) {
        const at = (pairs += 1);
        await service.post(`{"id":${1_000_000 + at},"name":"first ${at}"}`);
        await service.post(`{"id":-${at},"name":"second ${at}"}`);
      }
    }
    const creating = Promise.all(Array.from({ length: 8 }, create));
    await until("pairs", () => pairs > 100);
    const file = join(temporaryFolder(), "moment.gz");
    // In a process of its own, as it has to run beside the service.
    const told = await runOn(place, ["backup", file], {});
    isDone = true;
    await creating;
    await service.stop();
    expect(told).toMatchObject({ status: 0, stderr: "" });
    const lines = contentsOf(file);
    const numbersOf = (name: string) => new Set(lines.flatMap((line) => new RegExp(`"name":"${name} (\\d+)"`).exec(line)?.[1] ?? []));
    const [first, second] = [numbersOf("first"), numbersOf("second")];
    // Each of the eight may be between its two.
    return { pairs: second.size, lost: second.difference(first).size, late: first.difference(second).size };
  }

  for (const { engine } of ENGINES) {
    it(`is of one moment, on ${engine}`, async () => {
      const { pairs, lost, late } = await backUpPairs(engine);
      expect(pairs).toBeGreaterThan(50);
      expect([lost, late <= 8]).toEqual([0, true]);
    });
  }

  it("removes old ones beside one that it cannot read, and names that one, with the status of a failure", async () => {
    const own = temporaryFolder();
    const [unreadable, old] = [1, 2].map((year) => join(own, `plant-store-200${year}-01-01T00-00-00Z.gz`)) as [string, string];
    for (const path of [unreadable, old]) copyFileSync(garden.file, path);
    // Root may read everything: for it, the disk fails.
    const root = plantBugs([
      {
        file: "src/cli/backup-folder.ts",
        from: "if (!lstatSync(path).isFile()) return false;",
        to: `if (path.includes("-2001-")) throw Object.assign(new Error("EACCES"), { code: "EACCES" });`,
      },
    ]);
    const { status, stderr } = await runOn(garden.place, ["backup", own, "--keep", "1"], { root });
    const why = `.gz is written, but an older backup may never be removed (${unreadable}: this user may not use it): remove it by hand.`;
    expect([status, stderr]).toEqual([1, expect.stringContaining(why)]);
    expect([existsSync(unreadable), existsSync(old), readdirSync(own).length]).toEqual([true, false, 2]);
  });

  it("removes no old backup when its own cannot be read back", async () => {
    const own = temporaryFolder();
    copyFileSync(garden.file, join(own, "plant-store-2004-01-01T00-00-00Z.gz"));
    const root = plantBugs([
      {
        file: "src/cli/backup.ts",
        from: "createGzip(GZIP),",
        to: "createGzip(GZIP), async function* (all) { for await (const one of all) yield Buffer.from(one).fill(1, 20); },",
      },
    ]);
    const { status, stderr } = await runOn(garden.place, ["backup", own, "--keep", "1"], { root });
    expect([status, stderr]).toEqual([1, expect.stringContaining("The backup cannot be read back: check its disk, and back up again.")]);
    expect(readdirSync(own)).toEqual(["plant-store-2004-01-01T00-00-00Z.gz"]);
  });

  it("ends with a sentence, and leaves no file, when so much is written meanwhile that the WAL has grown too much", async () => {
    const own = temporaryFolder();
    const { place, service } = garden;
    // The WAL of this service has more than two pages.
    const root = plantBugs([
      { file: "src/store/sqlite/engine/wal.ts", from: "SNAPSHOT_WAL_PAGES_MAX = 131_072", to: "SNAPSHOT_WAL_PAGES_MAX = 2" },
    ]);
    const { status, stdout, stderr } = await runOn(place, ["backup", join(own, "file.gz")], { root });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toStartWith("plant-store: More than 512 MB were written to the store meanwhile");
    expect(readdirSync(own)).toEqual([]);
    expect((await service.request("/readyz")).status).toBe(200);
  });

  it("ends with a sentence and leaves nothing behind when there is no room, and so does a restore", async () => {
    const own = temporaryFolder();
    // No file may grow beyond one kilobyte, or eight.
    const limited = (kilobytes: number, words: readonly string[]) => {
      const script = `ulimit -f ${kilobytes}; trap "" XFSZ; exec "$0" "$@"`;
      return Bun.spawnSync(["bash", "-c", script, process.execPath, join(PROJECT, "src/main.ts"), ...words], { env: cleanEnvironment() });
    };
    const file = join(own, "file.gz");
    const big = await newPlace("SQLite");
    const service = await startTestService(big);
    for (let id = 0; id < 50; id += 1) await service.post(`{"id":${id},"name":"${randomBytes(10_000).toString("hex")}"}`);
    await service.stop();
    const backup = limited(100, ["backup", file, "--data", big["data"]!]);
    const words = (what: string) => [
      1,
      expect.stringMatching(new RegExp(`^plant-store: ${what} cannot be written \\(.*\\): make room, or name a .*\n$`)),
    ];
    expect([backup.exitCode, backup.stderr.toString()]).toEqual(words("The backup"));
    expect(readdirSync(own)).toEqual([]);
    expect((await runOn(big, ["backup", file])).status).toBe(0);
    const place = await newPlace("SQLite");
    const restore = limited(100, ["restore", file, "--data", place["data"]!]);
    expect([restore.exitCode, restore.stderr.toString()]).toEqual(words("\\S+plants.db"));
    expect(readdirSync(place["data"]!)).toEqual(["plants.db.lock"]);
    expect((await runOn(place, ["restore", file])).status).toBe(0);
  });
});

describe("plant-store restore", () => {
  const folder = temporaryFolder();
  const file = garden.file;

  for (const { engine } of ENGINES) {
    it(`restores nothing when the file changes after it was checked, on ${engine}`, async () => {
      const place = await newPlace(engine);
      const path = join(temporaryFolder(), "changing.gz");
      const lines = linesOf(file);
      writeLines(path, lines);
      const other = join(temporaryFolder(), "other.gz");
      const fewer = lines.slice(0, -2);
      writeLines(other, [...fewer, endOf(fewer)]);
      const root = plantBugs([
        {
          file: "src/cli/restore.ts",
          from: "const began = performance.now();",
          to: `require("node:fs").copyFileSync("${other}", file); const began = performance.now();`,
        },
      ]);
      const { status, stderr } = await runOn(place, ["restore", path], { root });
      expect([status, stderr]).toEqual([1, expect.stringContaining("has changed since it was checked: restore again.")]);
      // The place is as it was.
      expect((await runOn(place, ["restore", file])).status).toBe(0);
    });
  }

  it("leaves a folder on which no service starts if it is killed, and succeeds when it runs again", async () => {
    const place = await newPlace("SQLite");
    const root = plantBugs([
      { file: "src/store/sqlite/restore.ts", from: "renameSync(built, path);", to: 'process.kill(process.pid, "SIGKILL");' },
    ]);
    expect((await runOn(place, ["restore", file], { root })).status).toBe(null);
    for (const words of [
      ["serve", "--port", "0"],
      ["token", "list"],
      ["import", join(folder, "none.csv")],
      ["backup", join(folder, "cut.gz")],
    ]) {
      const { status, stderr, stdout } = await runOn(place, words);
      expect([status, `${stderr}${stdout}`], words.join(" ")).toEqual([1, expect.stringMatching(/restore again|There is no/)]);
    }
    expect((await runOn(place, ["restore", file])).status).toBe(0);
    expect(readdirSync(place["data"]!).toSorted()).toEqual(["plants.db", "plants.db.lock"]);
  });
});

describe("plant-store restore --dry-run", () => {
  it("says what is in a file, with no byte of a hash and nothing that moves the cursor, and changes nothing", async () => {
    const place = await newPlace("SQLite");
    const { status, stdout } = await runOn(place, ["restore", garden.file, "--dry-run"]);
    expect([status, existsSync(place["data"]!)]).toEqual([0, false]);
    expect(stdout).toMatch(
      /a complete backup, \d+ kB\n {2}made {5}\S+, by Plant Store \S+\n {2}store {4}SQLite \S+\n {2}plants {3}6\n {2}tokens {3}6\n/,
    );
    expect(stdout).toContain("admin \\u001b[2J\\u202e");
    for (const state of ["valid", "revoked", "expired"]) expect(stdout).toContain(` ${state} `);
    const hashes = contentsOf(garden.file).flatMap((line) => /"hash":"(\w+)"/.exec(line)?.[1] ?? []);
    expect(hashes).toHaveLength(6);
    for (const hash of hashes) expect(stdout).not.toContain(hash.slice(0, 8));
  });
});

describe("plant-store restore", () => {
  const file = garden.file;

  async function expectRefused(place: Place, message: string): Promise<void> {
    expect(await runOn(place, ["restore", file])).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  }

  it("leaves the file of another token than that of the store whose place it takes", async () => {
    const place = await newPlace("SQLite");
    const unused = await startTestService(place);
    await unused.stop();
    writeFileSync(unused.tokenFile!, `${garden.secrets.admin}\n`);
    expect((await runOn(place, ["restore", file])).status).toBe(0);
    expect(existsSync(unused.tokenFile!)).toBe(true);
  });

  it("takes the place of a store without plants that was killed, and leaves nothing of its WAL, once no one reads it", async () => {
    const place = await newPlace("SQLite");
    const killed = await startProcess({ data: place["data"]! });
    await killed.end("SIGKILL");
    expect(readdirSync(place["data"]!)).toContain("plants.db-wal");
    const reader = new DatabaseSync(join(place["data"]!, "plants.db"));
    reader.exec("BEGIN; SELECT * FROM plants");
    await expectRefused(place, "locked");
    reader.close();
    expect((await runOn(place, ["restore", file])).status).toBe(0);
    expect(readdirSync(place["data"]!)).not.toContain("plants.db-wal");
    const service = await startTestService(place);
    expect((await ask(service, garden.secrets.admin, "/plants/1"))[0]).toBe(200);
    await service.stop();
  });

  for (const { engine } of ENGINES) {
    it(`takes the place of a store whose service made nothing but its first token, and removes its file, on ${engine}`, async () => {
      const place = await newPlace(engine);
      const unused = await startTestService(place);
      expect(existsSync(unused.tokenFile!)).toBe(true);
      await unused.stop();
      expect((await runOn(place, ["restore", file])).status).toBe(0);
      expect(readdirSync(place["data"]!).filter((name) => name.startsWith("first-token"))).toEqual([]);
      const service = await startTestService(place);
      expect((await ask(service, garden.secrets.admin, "/plants/1"))[0]).toBe(200);
      expect((await ask(service, unused.token, "/plants/1"))[0]).toBe(401);
      const plants = contentsOf(file).filter((line) => line.startsWith('{"id":')).length;
      expect((await ask(service, garden.secrets.admin, "/plants/count"))[1]).toContain(`"plants":${plants},`);
      // Its index of names is not that of the store before.
      await until("The index is built", async () => (await ask(service, garden.secrets.admin, "/plants?q=nul"))[0] !== 503);
      expect((await ask(service, garden.secrets.admin, "/plants?q=nul"))[1]).toContain("-9223372036854775808");
      await service.stop();
    });

    it(`changes nothing of a store that has a plant, another token, or a first token that was used, on ${engine}`, async () => {
      for (const fill of [
        (service: TestService) => service.post('{"id":1,"name":"Aloe"}'),
        (service: TestService) => issue(service, "other", ["plants:read"]),
        (service: TestService) => service.store.tokens.touch(new Map([["first", Date.now()]])),
      ]) {
        const place = await newPlace(engine);
        const service = await startTestService(place);
        await fill(service);
        await service.stop();
        const before = join(temporaryFolder(), "before.gz");
        await runOn(place, ["backup", before]);
        await expectRefused(place, "The store has plants or tokens already: restore into an empty one");
        const after = join(temporaryFolder(), "after.gz");
        await runOn(place, ["backup", after]);
        expect(contentsOf(after)).toEqual(contentsOf(before));
        expect(existsSync(join(place["data"]!, "first-token"))).toBe(true);
      }
    });
  }

  it("is refused by a store with plants, though it was not noted yet that its token was used", () => {
    expect(() => expectUnused([], true)).toThrow("The store has plants or tokens already");
    expect(expectUnused([], false)).toBeUndefined();
  });

  it("is refused while a service uses the folder", async () => {
    const place = await newPlace("SQLite");
    const service = await startTestService(place);
    await expectRefused(place, "Another Plant Store is using this data folder");
    await service.stop();
  });

  it("leaves the WAL of a lost database alone, and goes into a folder with other remains of it", async () => {
    const place = await newPlace("SQLite");
    const first = await startTestService(place);
    await first.stop();
    const path = join(place["data"]!, "plants.db");
    rmSync(path);
    writeFileSync(`${path}-wal`, "frames");
    await expectRefused(place, "plants.db-wal may hold plants that are nowhere else: move it away first.");
    expect(readFileSync(`${path}-wal`, "utf8")).toBe("frames");
    rmSync(`${path}-wal`);
    expect((await runOn(place, ["restore", file])).status).toBe(0);
    // No one knows whether it is still needed: it is the token of another store now.
    expect(existsSync(join(place["data"]!, "first-token"))).toBe(true);
  });
});

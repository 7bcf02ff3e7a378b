import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { issueToken } from "../../src/auth/issue.ts";
import { SCOPES } from "../../src/scope.ts";
import type { Scope } from "../../src/scope.ts";
import { readBackup } from "../../src/transfer/backup-file.ts";
import { BackupError } from "../../src/transfer/backup-lines.ts";
import { contentsOf, endOf, linesOf, runOn, writeLines } from "../support/backups.ts";
import type { Place } from "../support/backups.ts";
import { ENGINES } from "../support/engines.ts";
import { cleanEnvironment, PROJECT } from "../support/process.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

/** A new place for a store: `home` for a service, which may keep its first token there. */
async function newPlace(engine: string): Promise<Place> {
  const { openFlags } = ENGINES.find((one) => one.engine === engine)!;
  return { data: join(temporaryFolder(), "data"), ...(await openFlags()) };
}

/** Names that are hard to write, and ids at the ends of their range. */
const HOSTILE = [
  { id: "-9223372036854775808", name: "NUL \0 and \u0001 and \u00010", tag: "\0" },
  { id: "-1", name: '{"end":{"tokens":0,"plants":0}}', tag: '"\\\n\r\t\u2028' },
  { id: "0", name: "", tag: "" },
  { id: "1", name: "\u001b[2J\u202e𐀀🌱" },
  { id: "9007199254740993", name: "x".repeat(60_000), tag: "y".repeat(2000) },
  { id: "9223372036854775807", name: "{}", tag: "NULL" },
];

function issue({ store: { tokens } }: TestService, name: string, scopes: readonly Scope[], lifetimeMs?: number) {
  return issueToken({ tokens, random: randomBytes, now: Date.now, name, scopes, lifetimeMs });
}

/** A store with hostile plants in an order of creation that is not that of their ids, and tokens in all states. */
async function openGarden(place: Place) {
  const service = await startTestService(place);
  for (const { id, ...plant } of [...HOSTILE.slice(3), ...HOSTILE.slice(0, 3)]) {
    expect((await service.post(`{"id":${id},${JSON.stringify(plant).slice(1)}`)).status).toBe(200);
  }
  const admin = await issue(service, "admin \u001b[2J\u202e", SCOPES);
  const reader = await issue(service, "reader", ["plants:read"], 86_400_000);
  const revoked = await issue(service, "revoked", ["plants:read"]);
  const expired = await issue(service, "expired", ["plants:read"], -1);
  await service.store.tokens.revoke(revoked.token.id, Date.now(), { isKeepingChildren: false });
  const made = await service.request("/tokens", {
    method: "POST",
    headers: { authorization: `Bearer ${admin.secret}`, "content-type": "application/json" },
    body: '{"name":"child","scopes":["plants:read"]}',
  });
  const child = ((await made.json()) as { token: string }).token;
  return { service, secrets: { admin: admin.secret, reader: reader.secret, revoked: revoked.secret, expired: expired.secret, child } };
}

async function ask({ url }: { url: string }, secret: string, path: string): Promise<[status: number, text: string]> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
  return [response.status, await response.text()];
}

/** What a client sees of a store. */
async function look(service: TestService, { admin, ...others }: Readonly<Record<string, string>>) {
  const paths = ["/plants?limit=100", "/plants?sort=newest", "/plants?sort=name", "/plants/count", "/tags", "/plants?q=x", "/tokens"];
  const answers = [];
  for (const path of paths) answers.push(await ask(service, admin!, path));
  const states = [];
  for (const secret of Object.values(others)) states.push((await ask(service, secret, "/plants/1"))[0]);
  return { answers: answers.map(([status, text]) => [status, text.replaceAll(/,"lastUsed":[^,}]*/g, "")]), states };
}

const folder = temporaryFolder();
const gardens = await Promise.all(
  ENGINES.map(async ({ engine }) => {
    const place = await newPlace(engine);
    const { service, secrets } = await openGarden(place);
    const file = join(folder, `${engine}.gz`);
    const seen = await look(service, secrets);
    // Before the minute in which it is stored when tokens were last used.
    const told = await runOn(place, ["backup", file]);
    return { engine, place, service, secrets, file, seen, told };
  }),
);
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

    for (const { engine: other } of ENGINES) {
      it(`brings all back, from ${engine} to ${other}: plants, orders, tags and tokens in every state`, async () => {
        const place = await newPlace(other);
        const restored = await runOn(place, ["restore", file]);
        expect([restored.status, restored.stderr]).toEqual([0, ""]);
        expect(restored.stdout).toMatch(
          /\nRestored 6 plants and 6 tokens in [\d.]+ s\.\nTokens that were revoked after .* are valid again/,
        );
        const again = join(temporaryFolder(), "again.gz");
        expect((await runOn(place, ["backup", again])).status).toBe(0);
        expect(contentsOf(again)).toEqual(contentsOf(file));
        const service = await startTestService(place);
        try {
          // No first token is made when tokens came back.
          expect([service.tokenFile, existsSync(join(place["data"]!, "first-token"))]).toEqual([undefined, false]);
          for (let tries = 0; (await ask(service, secrets.admin, "/plants?sort=name"))[0] === 503 && tries < 500; tries += 1)
            await Bun.sleep(10);
          expect(await look(service, secrets)).toEqual(seen);
          expect((await ask(service, secrets.admin, "/plants/9007199254740993"))[0]).toBe(200);
        } finally {
          await service.stop();
        }
      });
    }
  }

  /** Pairs of which the second, which is read first, is created after the first was answered. How many are in a backup, and torn. */
  async function backUpPairs(engine: string, root?: string) {
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
    const { status } = await runOn(place, ["backup", file], root === undefined ? {} : { root });
    isDone = true;
    await creating;
    await service.stop();
    expect(status).toBe(0);
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

  it("would visibly be of several moments if each page were read at its own", async () => {
    const root = plantBugs([{ file: "src/store/postgres/snapshot.ts", from: "REPEATABLE READ", to: "READ COMMITTED" }]);
    expect((await backUpPairs("PostgreSQL", root)).late).toBeGreaterThan(8);
  });
});

describe("plant-store restore --dry-run", () => {
  it("says what is in a file, with no byte of a hash and nothing that moves the cursor, and changes nothing", async () => {
    const place = await newPlace("SQLite");
    const { status, stdout } = await runOn(place, ["restore", garden.file, "--dry-run"]);
    expect([status, existsSync(place["data"]!)]).toEqual([0, false]);
    expect(stdout).toMatch(
      /a whole backup, \d+ kB\n {2}made {5}\S+, by Plant Store \S+\n {2}store {4}SQLite \S+\n {2}plants {3}6\n {2}tokens {3}6\n/,
    );
    expect(stdout).toContain("admin \\u001b[2J\\u202e");
    for (const state of ["valid", "revoked", "expired"]) expect(stdout).toContain(` ${state} `);
    const hashes = contentsOf(garden.file).flatMap((line) => /"hash":"(\w+)"/.exec(line)?.[1] ?? []);
    expect(hashes).toHaveLength(6);
    for (const hash of hashes) expect(stdout).not.toContain(hash.slice(0, 8));
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
  const packed = gzipSync(small.map((line) => `${line}\n`).join(""));

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

  const text = small.map((line) => `${line}\n`).join("");
  const [head, ...rest] = small;
  const newer = head!.replace('"format":1', '"format":2');
  const unpacked = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  const withEnd = (lines: readonly string[]) => gzipSync(unpacked([...lines, endOf(lines)]));
  const body = small.slice(0, -1);
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
    {
      what: "a time that no date has",
      file: withEnd(body.map((line) => line.replace(/"created":\d+/, '"created":9007199254740991'))),
      message: "a time is not as written",
    },
    {
      what: "a token whose name is longer than any",
      file: withEnd(body.map((line) => line.replace('"name":"reader"', `"name":"${"x".repeat(1001)}"`))),
      message: "a text of a token is not as written",
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

  it("would visibly be restored if nothing compared the checksum", async () => {
    const path = join(temporaryFolder(), "file.gz");
    writeFileSync(path, gzipSync(text.replace('"id":1,', '"id":7,')));
    const root = plantBugs([{ file: "src/transfer/backup-file.ts", from: 'end.sha256 !== hash.digest("hex")', to: "false" }]);
    expect((await runOn(await newPlace("SQLite"), ["restore", path], { root })).status).toBe(0);
  });
});

describe("plant-store restore", () => {
  const file = garden.file;

  async function expectRefused(place: Place, message: string): Promise<void> {
    const { status, stderr } = await runOn(place, ["restore", file]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  }

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
      // Its index of names is not that of the store before.
      for (let tries = 0; (await ask(service, garden.secrets.admin, "/plants?q=nul"))[0] === 503 && tries < 500; tries += 1)
        await Bun.sleep(10);
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
    // Nobody knows whether it is still needed: it is the token of another store now.
    expect(existsSync(join(place["data"]!, "first-token"))).toBe(true);
  });

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

  it("that was cut off leaves a folder on which no service starts, and is done again", async () => {
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

  it("in a folder is named by the time, and keeps so many of this store, its newest always, and all that is not its own", async () => {
    const own = temporaryFolder();
    const others = ["plant-store-2001-01-01T00-00-00Z.gz", "plant-store-2099-01-01T00-00-00Z.gz.part", "plants.gz", "plant-store-x.gz"];
    for (const name of others) writeFileSync(join(own, name), "precious");
    const foreign = "plant-store-2002-01-01T00-00-00Z.gz";
    copyFileSync(gardens[1]!.file, join(own, foreign));
    symlinkSync(garden.file, join(own, "plant-store-2003-01-01T00-00-00Z.gz"));
    const ours = ["plant-store-2004-01-01T00-00-00Z.gz", "plant-store-2005-01-01T00-00-00Z.gz", "plant-store-2098-01-01T00-00-00Z.gz"];
    for (const name of ours) copyFileSync(garden.file, join(own, name));
    const { status, stdout, stderr } = await runOn(garden.place, ["backup", own, "--keep", "2"]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").filter((line) => line.startsWith("removed"))).toEqual(
      ours.slice(0, 2).map((name) => `removed ${join(own, name)}`),
    );
    const left = readdirSync(own).filter((name) => ![...others, foreign, "plant-store-2003-01-01T00-00-00Z.gz"].includes(name));
    expect(left).toHaveLength(2);
    expect(left.toSorted().at(-1)).toBe(ours[2]);
    expect(left.toSorted()[0]).toMatch(/^plant-store-20\d\d-\d\d-\d\dT\d\d-\d\d-\d\dZ\.gz$/);
    for (const name of others) expect(readFileSync(join(own, name), "utf8")).toBe("precious");
    const one = await runOn(garden.place, ["backup", join(own, "x.gz"), "--keep", "2"]);
    expect([one.status, one.stderr]).toEqual([
      1,
      `plant-store: ${own}/x.gz is not a folder: --keep needs one, in which it removes old backups.\n`,
    ]);
  });

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
    const why = `.gz is written, but an older backup may stay for ever (${unreadable}: this user may not use it): remove it by hand.`;
    expect([status, stderr]).toEqual([1, expect.stringContaining(why)]);
    expect([existsSync(unreadable), existsSync(old), readdirSync(own).length]).toEqual([true, false, 2]);
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

  it("without plants removes no old one, and says so: its store may have been lost, and created again", async () => {
    const place = await newPlace("SQLite");
    const own = temporaryFolder();
    expect((await runOn(place, ["restore", garden.file])).status).toBe(0);
    expect((await runOn(place, ["backup", join(own, "plant-store-2004-01-01T00-00-00Z.gz")])).status).toBe(0);
    rmSync(place["data"]!, { recursive: true });
    await (await startTestService(place)).stop();
    const { status, stdout } = await runOn(place, ["backup", own, "--keep", "1"]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/: 0 plants and 1 token, .*\nno older backup was removed, as this one has no plants\n$/),
    ]);
    expect(readdirSync(own)).toHaveLength(2);
  });

  it("that fails removes no old one", async () => {
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
      { file: "src/store/sqlite/engine/requirements.ts", from: "SNAPSHOT_WAL_PAGES_MAX = 131_072", to: "SNAPSHOT_WAL_PAGES_MAX = 2" },
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

describe("a command in a wrong folder, or on a wrong database", () => {
  for (const words of [
    ["token", "create"],
    ["token", "list"],
    ["token", "revoke", "first"],
    ["export"],
    ["backup", join(folder, "wrong.gz")],
  ]) {
    for (const { engine } of ENGINES) {
      it(`makes no store there: ${words.slice(0, 2).join(" ")}, on ${engine}`, async () => {
        const place = await newPlace(engine);
        const { status, stdout, stderr } = await runOn(place, words);
        expect([status, stdout, stderr]).toEqual([1, "", expect.stringContaining("There is no store in ")]);
        expect(existsSync(place["data"]!)).toBe(false);
        if (engine === "PostgreSQL") {
          const { database } = place;
          const client = new Client({ connectionString: database });
          await client.connect();
          expect((await client.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).rowCount).toBe(0);
          await client.end();
        }
        expect(existsSync(join(folder, "wrong.gz"))).toBe(false);
      });
    }
  }
});

describe("a start", () => {
  for (const { what, spoil, message } of [
    {
      what: "a database that was copied in part",
      spoil: (path: string) => truncateSync(path, statSync(path).size - 4096),
      message: "it was copied in part",
    },
    {
      what: "a backup in place of the database",
      spoil: (path: string) => copyFileSync(garden.file, path),
      message: "goes in with `plant-store restore`",
    },
    {
      what: "something else in place of the database",
      spoil: (path: string) => writeFileSync(path, "{}".repeat(5000)),
      message: "is not a database",
    },
    {
      what: "what a restore left",
      spoil: (path: string) => writeFileSync(`${path}.restoring`, ""),
      message: "is what a restore left that did not end",
    },
  ]) {
    it(`says what is wrong with ${what}, and changes nothing`, async () => {
      const place = await newPlace("SQLite");
      await (await startTestService(place)).stop();
      const path = join(place["data"]!, "plants.db");
      spoil(path);
      const before = readFileSync(path);
      for (const words of [
        ["serve", "--port", "0"],
        ["token", "list"],
      ]) {
        const { status, stdout, stderr } = await runOn(place, words);
        expect([status, stdout, stderr]).toEqual([1, "", expect.stringContaining(message)]);
      }
      expect(readFileSync(path).equals(before)).toBe(true);
    });
  }
});

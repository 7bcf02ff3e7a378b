import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { expectUnused } from "../../src/store/contents.ts";
import { ask, issue, newPlace, openGarden } from "../support/backup-garden.ts";
import { contentsOf, runOn } from "../support/backups.ts";
import type { Place } from "../support/backups.ts";
import { ENGINES } from "../support/engines.ts";
import { startProcess } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const garden = await openGarden("SQLite");
afterAll(() => garden.service.stop());

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

  it("takes the place of a store without plants that was killed, and leaves nothing of its WAL, once nobody reads it", async () => {
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
    // Nobody knows whether it is still needed: it is the token of another store now.
    expect(existsSync(join(place["data"]!, "first-token"))).toBe(true);
  });
});

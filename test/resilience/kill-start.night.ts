import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeAll, describe, expect, it } from "bun:test";
import { importPlants, plantOf } from "../support/flood.ts";
import { openRandom, pick, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT, spawnService, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

afterEach(killServices);

const FOLDERS = inForm(5, 30);
const KILLS_EACH = inForm(3, 10);
const KILLS = inForm(6, 200);
/** Among other files a sound start takes seconds too. It finds one that hangs. */
const READY_MS_MAX = inForm(15_000, 2000);
/** Kills come within this many times the duration of a start, so that some come after it, while the index is built. */
const START_SHARE_MAX = 1.3;
/** How much longer a start is taken to be after a kill within it, and how much shorter after one that came too late. */
const GROW = 1.15;
const SHRINK = 0.7;

const random = openRandom(seedOf("kill -9 while starting"));

/** How long a start takes now, give or take. */
let startMs: number;
/** A folder with plants only in the WAL, because their service was killed. */
const full = temporaryFolder();
const IDS = Array.from({ length: 20_000 }, (_, at) => BigInt(at + 1));
const SENT = { attempted: IDS, answered: IDS };

beforeAll(async () => {
  const { service, readyMs } = await startTimed(full);
  startMs = readyMs;
  expect(await importPlants(service, IDS)).toMatchObject({ created: IDS.length, refused: 0 });
  await service.end("SIGKILL");
});

/** Starts the service and kills it -9 at a random moment of its start. Returns whether it had become ready. */
async function killStart(data: string): Promise<boolean> {
  let isReady = false;
  const service = spawnService({ data, flags: PATIENT });
  service.started.then(
    () => (isReady = true),
    () => {},
  );
  await Bun.sleep(random() * START_SHARE_MAX * startMs);
  await service.end("SIGKILL");
  // A machine may become several times slower or faster meanwhile. Some kills should come late, and most in the start.
  startMs *= isReady ? SHRINK : GROW;
  return isReady;
}

/** A whole start. Returns how long it took until /readyz was 200. */
async function startTimed(data: string): Promise<{ service: Service; readyMs: number }> {
  const spawned = performance.now();
  const service = await startService({ data, flags: PATIENT });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  return { service, readyMs: performance.now() - spawned };
}

/** The start after those that were killed: how long it took, with all plants, each found by its name. */
async function expectWhole(data: string): Promise<number> {
  const { service, readyMs } = await startTimed(data);
  expect(readyMs).toBeLessThan(READY_MS_MAX);
  const search = (id: bigint) => service.ask("GET", `/plants?q=${encodeURIComponent(plantOf(id).name)}`);
  await until("The index of names is built", async () => (await search(1n)).status !== 503);
  const unfound: bigint[] = [];
  for (const id of Array.from({ length: 100 }, () => pick(random, IDS)))
    if (!(await (await search(id)).text()).includes(`"id":${id},`)) unfound.push(id);
  expect(unfound).toEqual([]);
  const { tag } = plantOf(1n);
  const tagged = IDS.filter((id) => plantOf(id).tag === tag);
  const listed = await (await service.ask("GET", `/plants?tag=${encodeURIComponent(tag)}&limit=1000`)).text();
  expect(Array.from(listed.matchAll(/"id":(\d+)/g), ([, id]) => BigInt(id!))).toEqual(tagged.slice(0, 1000));
  await service.end("SIGTERM");
  expect(judgeFolder(data, SENT)).toEqual(SOUND);
  return Math.round(readyMs);
}

it("kill -9 in the very first start, again and again, leaves a folder on which the next start is ready, with a first token that works", async () => {
  let readyMsMax = 0;
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    const data = temporaryFolder();
    for (let kill = 0; kill < KILLS_EACH; kill += 1) await killStart(data);
    const { service, readyMs } = await startTimed(data);
    expect(await service.statusOf("POST", "/plants", '{"id":1,"name":"first"}')).toBe(200);
    await service.end("SIGTERM");
    readyMsMax = Math.max(readyMsMax, Math.round(readyMs));
  }
  expect(readyMsMax).toBeLessThan(READY_MS_MAX);
  tell("kill -9 in the first start", { FOLDERS, KILLS_EACH, readyMsMax });
});

/** Makes a folder equal to the full one, without an index of names. */
function refill(data: string): void {
  rmSync(data, { recursive: true });
  cpSync(full, data, { recursive: true });
  removeIndex(data);
}

function removeIndex(data: string): void {
  for (const file of readdirSync(data)) if (file.startsWith("plants.db.search")) rmSync(join(data, file));
}

describe("kill -9 in a start with plants only in the WAL and without the index of names", () => {
  for (const what of ["each on such a folder", "each on what the last one left"])
    it(`${KILLS} times, ${what}, keeps all plants; the next start is ready and finds every plant by its name`, async () => {
      const data = temporaryFolder();
      let ready = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        if (kill === 0 || what === "each on such a folder") refill(data);
        if (await killStart(data)) ready += 1;
        expect(judgeFolder(data, SENT)).toEqual(SOUND);
      }
      expect(ready).toBeLessThan(KILLS);
      const readyMs = await expectWhole(data);
      tell("kill -9 while starting", { KILLS, what, ready, readyMs });
    });
});

/** The columns of the first tables that later steps add. */
const ADDED_COLUMNS = `SELECT 'tokens' AS owner, name FROM pragma_table_info('tokens') WHERE name IN ('parent', 'used')
  UNION ALL SELECT 'plants', name FROM pragma_table_info('plants') WHERE name = 'added'
  UNION ALL SELECT 'changes', name FROM pragma_table_info('changes') WHERE name IN ('at', 'kinds', 'writers', 'import', 'before')`;

/** Reverts the schema to version 1, and what later steps made. */
function makeOld(data: string): void {
  using db = new DatabaseSync(join(data, "plants.db"));
  db.exec(
    "DROP INDEX IF EXISTS plants_by_tag; DROP TABLE IF EXISTS changes; DROP TABLE IF EXISTS bulk_changes; DROP TABLE IF EXISTS imports; PRAGMA user_version = 1",
  );
  db.exec("DROP INDEX IF EXISTS tokens_by_parent");
  for (const { owner, name } of db.prepare(`SELECT owner, name FROM (${ADDED_COLUMNS})`).all())
    db.exec(`ALTER TABLE ${String(owner)} DROP COLUMN ${String(name)}`);
  removeIndex(data);
}

/** The version in the file, without a mark that a kill may have left, and how much of the steps after the first is there. */
function readSchema(data: string): string {
  using db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  const names = "'plants_by_tag', 'changes', 'bulk_changes', 'tokens_by_parent', 'imports', 'imports_by_last'";
  const made = `(SELECT count(*) FROM sqlite_schema WHERE name IN (${names})) + (SELECT count(*) FROM (${ADDED_COLUMNS}))`;
  const { version, parts } = db.prepare(`SELECT user_version & 255 AS version, ${made} AS parts FROM pragma_user_version`).get() as Schema;
  return `version ${version} with ${parts} parts`;
}

type Schema = Readonly<{ version: number; parts: number }>;
const OLD = "version 1 with 0 parts";
const NEW = "version 7 with 12 parts";

it(`kill -9 in a start that brings an older store to the newest schema, ${KILLS} times, leaves the old schema or the new one, and keeps all plants`, async () => {
  const data = temporaryFolder();
  refill(data);
  let olds = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    makeOld(data);
    await killStart(data);
    const schema = readSchema(data);
    expect([OLD, NEW]).toContain(schema);
    if (schema === OLD) olds += 1;
  }
  makeOld(data);
  const readyMs = await expectWhole(data);
  expect(readSchema(data)).toBe(NEW);
  tell("kill -9 while migrating", { KILLS, olds, readyMs });
});

import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeAll, describe, expect, it } from "bun:test";
import { DROP_THE_WAL, INDEX_DONE_EARLY, MIGRATE_IN_PIECES, TOKEN_BEFORE_ITS_FILE } from "../support/bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { readToken } from "../support/service.ts";
import { importPlants, plantOf } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT, spawnService, startService } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";
import type { Verdict } from "../support/stored.ts";
import { until } from "../support/until.ts";

afterEach(killServices);

const FOLDERS = inForm(3, 30);
const KILLS_EACH = inForm(4, 10);
const KILLS = inForm(6, 200);
/** The short form shares its processors with other files. It finds a start that hangs. */
const READY_MS_MAX = inForm(15_000, 2000);
/** Kills come within this many times the duration of a start, so that some come after it, while the index is built. */
const START_SHARE_MAX = 1.3;
/** How much longer a start is taken to be after a kill within it, and how much shorter after one that came too late. */
const GROW = 1.15;
const SHRINK = 0.7;

const random = openRandom(seedOf("kill -9 while starting"));

/** How long a start takes now, give or take. */
let startMs: number;
beforeAll(async () => {
  const { service, readyMs } = await startTimed(temporaryFolder(), PROJECT);
  startMs = readyMs;
  await service.end("SIGTERM");
});

/** Starts the service and kills it -9 at a random moment of its start. Returns whether it had become ready. */
async function killStart({ data, root }: { data: string; root: string }): Promise<boolean> {
  let isReady = false;
  const service = spawnService({ data, root, flags: PATIENT });
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
async function startTimed(data: string, root: string): Promise<{ service: ServiceProcess; readyMs: number }> {
  const spawned = performance.now();
  const service = await startService({ data, root, flags: PATIENT });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  return { service, readyMs: performance.now() - spawned };
}

/** Whether the token in the first token's file can create a plant. */
async function isTokenGood({ url }: ServiceProcess, data: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${await readToken(data).catch(() => "")}`, "content-type": "application/json" };
  return (await fetch(`${url}/plants`, { method: "POST", body: '{"id":1,"name":"first"}', headers })).status === 200;
}

describe("kill -9 in the very first start", () => {
  /** A new folder, killed starts on it, and whether the start after them gives a token that works. */
  async function isFolderGood() {
    const data = temporaryFolder();
    for (let kill = 0; kill < KILLS_EACH; kill += 1) await killStart({ data, root: PROJECT });
    const { service, readyMs } = await startTimed(data, PROJECT);
    const isGood = await isTokenGood(service, data);
    await service.end("SIGTERM");
    return { isGood, readyMs };
  }

  it(`repeatedly leaves a folder on which the next start is ready within ${READY_MS_MAX} ms, with a first token that works`, async () => {
    const readyMs: number[] = [];
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      const result = await isFolderGood();
      expect(result.isGood).toBe(true);
      readyMs.push(result.readyMs);
    }
    expect(Math.max(...readyMs)).toBeLessThan(READY_MS_MAX);
    tell(
      "kill -9 in the first start",
      `${FOLDERS * KILLS_EACH} kills on ${FOLDERS} folders; then ready within ${Math.round(Math.max(...readyMs))} ms`,
    );
  });

  it("would visibly leave no token if it were in the store before it was in its file", async () => {
    const root = plantBugs(TOKEN_BEFORE_ITS_FILE);
    const data = temporaryFolder();
    const killed = spawnService({ data, root, flags: PATIENT });
    await until("The token is in the store", () => killed.lines.includes("The token is stored."));
    await killed.end("SIGKILL");
    const { service } = await startTimed(data, root);
    expect(await isTokenGood(service, data)).toBe(false);
  });
});

const IDS = Array.from({ length: 20_000 }, (_, at) => BigInt(at + 1));
const SENT = { attempted: IDS, answered: IDS };

let filled: Promise<string> | undefined;

/** A folder with plants only in the WAL, because their service was killed. The import is made once, and copied. */
async function makeFullFolder(): Promise<string> {
  return copyFolder(await (filled ??= fillFolder()), temporaryFolder());
}

async function fillFolder(): Promise<string> {
  const data = temporaryFolder();
  const service = await startService({ data, flags: PATIENT });
  expect(await importPlants(service, { data, ids: IDS })).toMatchObject({ created: IDS.length, refused: 0 });
  await service.end("SIGKILL");
  return data;
}

/** Makes a folder equal to another. */
function copyFolder(from: string, to: string): string {
  rmSync(to, { recursive: true });
  cpSync(from, to, { recursive: true });
  return to;
}

function removeIndex(data: string): void {
  for (const file of readdirSync(data)) if (file.startsWith("plants.db.search")) rmSync(join(data, file));
}

/** The plants, among some at random, that a search for the words of their name does not find. */
async function findUnfound({ url }: ServiceProcess, data: string): Promise<bigint[]> {
  const headers = { authorization: `Bearer ${await readToken(data)}` };
  const search = (id: bigint) => fetch(`${url}/plants?q=${encodeURIComponent(plantOf(id).name)}`, { headers });
  await until("The index of names is built", async () => (await search(1n)).status !== 503);
  const unfound: bigint[] = [];
  for (let round = 0; round < 100; round += 1) {
    const id = IDS[Math.trunc(random() * IDS.length)]!;
    if (!(await (await search(id)).text()).includes(`"id":${id},`)) unfound.push(id);
  }
  return unfound;
}

type Starts = Readonly<{
  root?: string;
  kills: number;
  /** Whether each start gets such a folder, or what the start before it left. */
  isAfresh: boolean;
}>;

/** Killed starts, each judged by what it left, and one that is not killed. */
async function killStarts({ root = PROJECT, kills, isAfresh }: Starts) {
  const full = await makeFullFolder();
  removeIndex(full);
  const data = copyFolder(full, temporaryFolder());
  const verdicts: Verdict[] = [];
  let ready = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    if (isAfresh) copyFolder(full, data);
    if (await killStart({ data, root })) ready += 1;
    verdicts.push(judgeFolder(data, SENT));
  }
  const { service, readyMs } = await startTimed(data, root);
  const unfound = await findUnfound(service, data);
  await service.end("SIGTERM");
  verdicts.push(judgeFolder(data, SENT));
  return { ready, readyMs, unfound, verdicts };
}

describe("kill -9 in a start with plants only in the WAL and without the index of names", () => {
  for (const { what, isAfresh } of [
    { what: "each on such a folder", isAfresh: true },
    { what: "each on what the last one left", isAfresh: false },
  ]) {
    it(`${KILLS} times, ${what}, keeps all plants; the next start is ready within ${READY_MS_MAX} ms and finds every plant by its name`, async () => {
      const { ready, readyMs, unfound, verdicts } = await killStarts({ kills: KILLS, isAfresh });
      expect(verdicts).toEqual(Array.from({ length: KILLS + 1 }, () => SOUND));
      expect(unfound).toEqual([]);
      expect(readyMs).toBeLessThan(READY_MS_MAX);
      expect(ready).toBeLessThan(KILLS);
      tell(
        "kill -9 while starting",
        `${KILLS} kills, ${what}, ${KILLS - ready} before it was ready; then ready after ${Math.round(readyMs)} ms, ${IDS.length} plants, 0 lost`,
      );
    });
  }

  it("would visibly lose plants if a start threw the WAL away", async () => {
    const data = await makeFullFolder();
    const { service } = await startTimed(data, plantBugs(DROP_THE_WAL));
    await service.end("SIGTERM");
    expect(judgeFolder(data, SENT).lost).toEqual(IDS);
  });

  it("would visibly find too little if a half-built index counted as whole", async () => {
    expect((await killStarts({ root: plantBugs(INDEX_DONE_EARLY), kills: 1, isAfresh: true })).unfound.length).toBeGreaterThan(0);
  });
});

/** Reverts the schema to version 1, and what later steps made. */
function makeOld(data: string): void {
  const db = new DatabaseSync(join(data, "plants.db"));
  db.exec("DROP INDEX IF EXISTS plants_by_tag; DROP TABLE IF EXISTS changes; DROP TABLE IF EXISTS bulk_changes; PRAGMA user_version = 1");
  db.exec("DROP INDEX IF EXISTS tokens_by_parent");
  for (const { owner, name } of db.prepare(`SELECT owner, name FROM (${ADDED_COLUMNS})`).all())
    db.exec(`ALTER TABLE ${String(owner)} DROP COLUMN ${String(name)}`);
  db.close();
  removeIndex(data);
}

/** The columns of the first tables that later steps add. */
const ADDED_COLUMNS = `SELECT 'tokens' AS owner, name FROM pragma_table_info('tokens') WHERE name IN ('parent', 'used')
  UNION ALL SELECT 'plants', name FROM pragma_table_info('plants') WHERE name = 'added'`;

type Schema = Readonly<{ user_version: number; made: number }>;

/**
 * The version in the file, without a mark that a kill may have left, and how much of the steps after the first is
 * there.
 */
function readSchema(data: string): Schema {
  const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  const made = `SELECT (SELECT count(*) FROM sqlite_schema WHERE name IN ('plants_by_tag', 'changes', 'bulk_changes', 'tokens_by_parent'))
    + (SELECT count(*) FROM (${ADDED_COLUMNS})) AS made`;
  const schema = {
    ...db.prepare("SELECT user_version & 255 AS user_version FROM pragma_user_version").get(),
    ...db.prepare(made).get(),
  } as Schema;
  db.close();
  return schema;
}

const OLD: Schema = { user_version: 1, made: 0 };
const NEW: Schema = { user_version: 5, made: 7 };

describe("kill -9 in a start that brings an older store to the newest schema", () => {
  it(`${KILLS} times leaves the old schema or the new one, and keeps all plants`, async () => {
    const data = await makeFullFolder();
    let olds = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      makeOld(data);
      await killStart({ data, root: PROJECT });
      const schema = readSchema(data);
      expect(isWhole(schema)).toBe(true);
      if (schema.user_version === OLD.user_version) olds += 1;
    }
    makeOld(data);
    const { service, readyMs } = await startTimed(data, PROJECT);
    expect(readSchema(data)).toEqual(NEW);
    expect(await findUnfound(service, data)).toEqual([]);
    await service.end("SIGTERM");
    expect(judgeFolder(data, SENT)).toEqual(SOUND);
    tell(
      "kill -9 while migrating",
      `${KILLS} kills, ${olds} left the old schema and ${KILLS - olds} the new; then ready after ${Math.round(readyMs)} ms, 0 plants lost`,
    );
  });

  it("would visibly leave neither if each step were its own commit", async () => {
    const data = await makeFullFolder();
    const root = plantBugs(MIGRATE_IN_PIECES);
    const schemas: Schema[] = [];
    for (let kill = 0; kill < 100 && !schemas.some((schema) => !isWhole(schema)); kill += 1) {
      makeOld(data);
      await killStart({ data, root });
      schemas.push(readSchema(data));
    }
    expect(schemas.filter((schema) => !isWhole(schema))).toHaveLength(1);
  });
});

function isWhole(schema: Schema): boolean {
  return [OLD, NEW].some((whole) => Bun.deepEquals(schema, whole));
}

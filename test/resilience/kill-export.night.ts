import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "bun:test";
import { EXPORT_IN_PLACE } from "../support/bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommandKillable, runKillable } from "../support/killable.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { readToken } from "../support/service.ts";
import { importPlants, plantOf, startFlood } from "../support/flood.ts";
import type { Journal } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import { until } from "../support/until.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";

afterEach(killServices);

const KILLS = inForm(4, 100);
const IDS = Array.from({ length: inForm(30_000, 500_000) }, (_, at) => BigInt(at + 1));
/** The flood during the backups is small, to leave time for them. */
const FLOOD = { clients: 4, firstId: BigInt(IDS.length + 1) } as const;

const random = openRandom(seedOf("kill -9 while backing up"));

/** A service with existing plants, and more that arrive meanwhile. */
async function openGarden(root = PROJECT) {
  const data = temporaryFolder();
  const service = await startService({ data, root, flags: PATIENT });
  const token = await readToken(data);
  expect(await importPlants(service, { data, ids: IDS })).toMatchObject({ created: IDS.length, refused: 0 });
  return { data, root, service, token, flood: startFlood({ url: service.url, token, ...FLOOD }) };
}

type Garden = Awaited<ReturnType<typeof openGarden>>;

function runExport({ root, service, token }: Garden, target: string) {
  return runCommandKillable(["export", target, "--force", "--url", service.url], root, { PLANT_STORE_TOKEN: token });
}

/**
 * What docs/how-to/back-up-and-restore.md advises: sqlite3 data/plants.db "VACUUM INTO 'copy.db'". The runtime's SQLite
 * does the same.
 */
function runVacuum({ data }: Garden, target: string) {
  const program = `const { DatabaseSync } = require("node:sqlite"); new DatabaseSync(process.argv[1]).exec("VACUUM INTO '" + process.argv[2] + "'")`;
  return runKillable([process.execPath, "-e", program, join(data, "plants.db"), target]);
}

/** The files of an unfinished export. */
function partsOf(target: string): string[] {
  return readdirSync(dirname(target)).filter((name) => name.endsWith(".part"));
}

/** Whether a file has each plant from before its beginning, as it was sent, and ends with a whole line. */
function isWholeExport(path: string): boolean {
  const lines = readFileSync(path, "utf8").split("\n");
  const isCutOff = lines.pop() !== "";
  const first = lines.slice(0, IDS.length);
  return !isCutOff && first.length === IDS.length && first.every((line, at) => line.includes(`"name":"${plantOf(IDS[at]!).name}"`));
}

/** The flood's plants and the imported ones: nothing lost, and only 200 answered meanwhile. */
async function expectUnharmed({ data, service, flood }: Garden): Promise<Journal> {
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await until("Creates go on", () => flood.count() > 100);
  const journal = await flood.stop();
  expect(journal.others).toEqual([]);
  expect(journal.answered).toHaveLength(journal.attempted.length);
  expect(await service.end("SIGTERM")).toBe(0);
  expect(judgeFolder(data, { attempted: [...IDS, ...journal.attempted], answered: [...IDS, ...journal.answered] })).toEqual(SOUND);
  return journal;
}

describe("kill -9 of an export", () => {
  /** One whole export, and as many killed ones onto the same file. True if the file was whole at every look. */
  async function isAlwaysWhole(garden: Garden, target: string, kills: number): Promise<boolean> {
    const { status, ms } = await runExport(garden, target).ended;
    expect(status).toBe(0);
    for (let kill = 0; kill < kills && isWholeExport(target); kill += 1) {
      // The first half of the time is the start of the command.
      await runExport(garden, target).killAfter((0.5 + random() / 2) * ms);
    }
    return isWholeExport(target);
  }

  it(`${KILLS} times never leaves a part of the catalogue as a backup, and the service creates plants as before`, async () => {
    const garden = await openGarden();
    const fresh = join(temporaryFolder(), "plants.ndjson");
    const killed = await runExport(garden, fresh).killAfter(100 + random() * 50);
    expect([killed.status, existsSync(fresh)]).toEqual([null, false]);
    const target = join(temporaryFolder(), "plants.ndjson");
    expect(await isAlwaysWhole(garden, target, KILLS)).toBe(true);
    // Leftovers of a killed export do not stop the next one, which removes them.
    expect((await runExport(garden, target).ended).status).toBe(0);
    expect([isWholeExport(target), partsOf(target)]).toEqual([true, []]);
    const { answered } = await expectUnharmed(garden);
    tell(
      "kill -9 of an export",
      `${KILLS + 1} kills, the file always whole or absent; ${answered.length} creates meanwhile, each answered 200`,
    );
  });

  it("would visibly leave a part if it were written in place", async () => {
    const target = join(temporaryFolder(), "plants.ndjson");
    const garden = await openGarden(plantBugs(EXPORT_IN_PLACE));
    // How long one takes, by which they are killed, may change meanwhile.
    await until("A part is left", async () => !(await isAlwaysWhole(garden, target, KILLS)));
  });
});

it("kill -9 of the service during an export makes the command end with 1 and leave no file", async () => {
  const garden = await openGarden();
  const target = join(temporaryFolder(), "plants.ndjson");
  const { ms } = await runExport(garden, join(temporaryFolder(), "plants.ndjson")).ended;
  const exporting = runExport(garden, target);
  while (partsOf(target).length === 0) await Bun.sleep(1);
  await Bun.sleep(random() * ms * 0.1);
  await garden.service.end("SIGKILL");
  expect((await exporting.ended).status).toBe(1);
  expect([existsSync(target), partsOf(target)]).toEqual([false, []]);
});

it(`kill -9 of VACUUM INTO, ${KILLS} times, harms neither the service nor the next copy, from which a service starts with every plant`, async () => {
  const garden = await openGarden();
  const spare = join(temporaryFolder(), "plants.db");
  const { ms } = await runVacuum(garden, spare).ended;
  const copied = temporaryFolder();
  const copy = join(copied, "plants.db");
  for (let kill = 0; kill < KILLS; kill += 1) {
    await runVacuum(garden, copy).killAfter(random() * ms);
    rmSync(copy, { force: true });
  }
  expect((await runVacuum(garden, copy).ended).status).toBe(0);
  const { attempted } = await expectUnharmed(garden);
  const restored = await startService({ data: copied });
  expect((await fetch(`${restored.url}/plants/${IDS.length}`, { headers: { authorization: `Bearer ${garden.token}` } })).status).toBe(200);
  expect(await restored.end("SIGTERM")).toBe(0);
  expect(judgeFolder(copied, { attempted: [...IDS, ...attempted], answered: IDS })).toEqual(SOUND);
  tell("kill -9 of VACUUM INTO", `${KILLS} kills; the copy after them has all of ${IDS.length} plants`);
});

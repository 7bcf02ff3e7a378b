import { afterEach, describe, expect, it } from "bun:test";
import { ANSWER_BEFORE_COMMIT, ANSWER_IMPORT_BEFORE_COMMIT, TELL_CHECKPOINTS } from "../support/bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { findFaults } from "../support/postgres/load.ts";
import { PROJECT } from "../support/process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { importPlants, plantOf } from "../support/flood.ts";
import type { Flood, Journal } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killAgain } from "../support/kills.ts";
import type { Kills } from "../support/kills.ts";
import { until } from "../support/until.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import { countPlants, judgeFolder, SOUND } from "../support/stored.ts";
import type { Verdict } from "../support/stored.ts";

afterEach(killServices);

const CYCLES = inForm(10, 500);
const CYCLES_ELSEWHERE = inForm(5, 50);
const CYCLES_IMPORTING = inForm(3, 20);
/** Shorter than a checkpoint. */
const CHECKPOINT_MS = 1.5;
/** The plants of the imported file. */
const IDS = Array.from({ length: 50_000 }, (_, at) => BigInt(at + 1));
/**
 * A run counts only if the service was really busy: answered creates a second. In the short form, which shares its
 * processors with other files, the plants of each cycle say so too.
 */
const RATE_MIN = inForm(20, 500);
const ANSWERED_EACH = 50;
/**
 * From the spawn of a restart to the first answer 200 of /readyz. The short form finds a start that hangs: among other
 * files a sound one took 4.4 s.
 */
const READY_MS_MAX = inForm(15_000, 2000);
const LOAD_MS = { min: 50, max: 350 } as const;
const DRAINING = ["--drain-delay-ms", "120"];

const random = openRandom(seedOf("kill -9"));

function sleepBetween({ min, max }: Readonly<{ min: number; max: number }>): Promise<void> {
  return Bun.sleep(min + random() * (max - min));
}

function untilBusy(flood: Flood): Promise<void> {
  return until("It is busy", () => flood.count() > ANSWERED_EACH);
}

/** While it serves: at any time under load. */
async function whileServing(_: ServiceProcess, flood: Flood): Promise<void> {
  await untilBusy(flood);
  await sleepBetween(LOAD_MS);
}

/** While it drains: at any time after SIGTERM, in the delay, among the last responses, or while the store closes. */
async function whileDraining(service: ServiceProcess, flood: Flood): Promise<void> {
  await untilBusy(flood);
  await sleepBetween({ min: 50, max: 250 });
  void service.end("SIGTERM");
  await sleepBetween({ min: 0, max: 140 });
}

/** In a checkpoint: within the time that one takes after the service said that it begins. */
async function whileCheckpointing({ output }: ServiceProcess): Promise<void> {
  await new Promise<void>((resolve) => {
    output.on("data", (text) => {
      if (String(text).includes('"checkpoint_begins"')) resolve();
    });
  });
  await Bun.sleep(random() * CHECKPOINT_MS);
}

/** Whether the last thing that a killed service said of checkpoints is that one begins. */
function isInCheckpoint({ lines }: ServiceProcess): boolean {
  return lines.findLast((line) => line.includes('"checkpoint_'))?.includes("begins") ?? false;
}

type FolderKills = Kills & Readonly<{ verdicts: readonly Verdict[]; end: Verdict }>;
type Options = Readonly<
  Pick<Parameters<typeof killAgain>[0], "cycles" | "isEnough" | "moment" | "flags"> & { bugs?: readonly PlantedBug[] }
>;

/** Kills on SQLite, with the plants of each cycle compared after its restart, and all of them after the last. */
async function killOnFolder({ bugs = [], isEnough = () => false, ...options }: Options): Promise<FolderKills> {
  const data = temporaryFolder();
  const verdicts: Verdict[] = [];
  const judge = (journal: Journal): void => void verdicts.push(judgeFolder(data, journal));
  const isOver = (): boolean => isEnough() || verdicts.some(({ lost }) => lost.length > 0);
  const root = bugs.length > 0 ? { root: plantBugs(bugs) } : {};
  const kills = await killAgain({ data, judge, isEnough: isOver, ...root, ...options });
  return { ...kills, verdicts, end: judgeFolder(data, kills.all) };
}

function expectNothingLost({ verdicts, end, readyMsMax }: FolderKills, cycles: number): void {
  expect(verdicts.filter((verdict) => !Bun.deepEquals(verdict, SOUND))).toEqual([]);
  expect(verdicts).toHaveLength(cycles);
  expect(end).toEqual(SOUND);
  expect(readyMsMax).toBeLessThan(READY_MS_MAX);
}

/** Kills on PostgreSQL, with the plants of all cycles compared after the last. */
async function killOnPostgres({ cycles, root = PROJECT }: Readonly<{ cycles: number; root?: string }>) {
  const database = await (await sharedCluster()).createDatabase();
  const flags = ["--database", database];
  const kills = await killAgain({ data: temporaryFolder(), root, flags, cycles, moment: whileServing, judge: () => {} });
  const answered = new Map(kills.all.answered.map((id) => [id, plantOf(id).name]));
  const sent = new Map(kills.all.attempted.map((id) => [id, new Set([plantOf(id).name])]));
  return { kills, faults: await findFaults(database, { answered, sent }) };
}

/** Of all the time under load: a busy machine may need longer to start a burst than the burst takes. */
function expectBusy({ journals, all }: Kills): void {
  const seconds = journals.reduce((sum, journal) => sum + journal.seconds, 0);
  expect(all.answered.length / seconds).toBeGreaterThan(RATE_MIN);
  for (const { answered } of journals) expect(answered.length).toBeGreaterThan(ANSWERED_EACH);
}

function figuresOf({ journals, all, struck, readyMsMax }: Kills): string {
  const rates = journals.map(({ answered, seconds }) => answered.length / seconds);
  const unknown = all.attempted.length - all.answered.length;
  return [
    `${journals.length} kills, ${struck} of a process that had not ended`,
    `${all.answered.length} plants answered at ${Math.round(Math.min(...rates))} to ${Math.round(Math.max(...rates))} a second, ${unknown} sent without an answer`,
    `ready again within ${Math.round(readyMsMax)} ms`,
  ].join("; ");
}

describe("kill -9 under load", () => {
  it(`loses no answered plant in ${CYCLES} kills while it serves ${RATE_MIN} creates a second and more, and it is ready again within ${READY_MS_MAX} ms`, async () => {
    const kills = await killOnFolder({ cycles: CYCLES, moment: whileServing });
    tell("kill -9 while serving", figuresOf(kills));
    expectNothingLost(kills, CYCLES);
    expect(kills.struck).toBe(CYCLES);
    expectBusy(kills);
  });

  it(`loses no answered plant in ${CYCLES_ELSEWHERE} kills while it copies the WAL into the database`, async () => {
    const services: ServiceProcess[] = [];
    const moment = (service: ServiceProcess) => whileCheckpointing(service).finally(() => services.push(service));
    // On a busy machine the word that one begins may come when it has ended.
    const isEnough = () => services.length >= CYCLES_ELSEWHERE && services.some(isInCheckpoint);
    const kills = await killOnFolder({ cycles: 20 * CYCLES_ELSEWHERE, isEnough, moment, bugs: TELL_CHECKPOINTS });
    expectNothingLost(kills, services.length);
    expect(services.length).toBeGreaterThanOrEqual(CYCLES_ELSEWHERE);
    expect(kills.struck).toBe(services.length);
    expect(kills.all.answered.length).toBeGreaterThan(services.length * ANSWERED_EACH);
    const inside = services.filter(isInCheckpoint).length;
    expect(inside).toBeGreaterThan(0);
    tell("kill -9 while checkpointing", `${inside} within a checkpoint; ${figuresOf(kills)}`);
  });

  it(`loses no answered plant in ${CYCLES_ELSEWHERE} kills while it drains`, async () => {
    const kills = await killOnFolder({ cycles: CYCLES_ELSEWHERE, moment: whileDraining, flags: DRAINING });
    expectNothingLost(kills, CYCLES_ELSEWHERE);
    expect(kills.struck).toBeGreaterThan(0);
    expect(kills.all.answered.length).toBeGreaterThan(CYCLES_ELSEWHERE * ANSWERED_EACH);
    tell("kill -9 while draining", figuresOf(kills));
  });

  it(`loses no answered plant in ${CYCLES_ELSEWHERE} kills while it serves from PostgreSQL`, async () => {
    const { kills, faults } = await killOnPostgres({ cycles: CYCLES_ELSEWHERE });
    expect(faults).toEqual({ lost: [], strange: [] });
    expect(kills.struck).toBe(CYCLES_ELSEWHERE);
    expect(kills.readyMsMax).toBeLessThan(READY_MS_MAX);
    expectBusy(kills);
    tell("kill -9 on PostgreSQL", figuresOf(kills));
  });

  for (const { where, ...options } of [
    { where: "while it serves", moment: whileServing, bugs: ANSWER_BEFORE_COMMIT },
    { where: "while it checkpoints", moment: whileCheckpointing, bugs: [...ANSWER_BEFORE_COMMIT, ...TELL_CHECKPOINTS] },
    { where: "while it drains", moment: whileDraining, flags: DRAINING, bugs: ANSWER_BEFORE_COMMIT },
  ]) {
    it(`would visibly lose plants ${where} if they were answered before their commit`, async () => {
      const { all, verdicts } = await killOnFolder({ cycles: 20, ...options });
      expect(all.answered.length).toBeGreaterThan(0);
      expect(verdicts.at(-1)?.lost.length).toBeGreaterThan(0);
    });
  }

  it("would visibly lose plants on PostgreSQL if they were answered before their commit", async () => {
    const root = plantBugs(ANSWER_BEFORE_COMMIT);
    await until("Plants are lost", async () => (await killOnPostgres({ cycles: 3, root })).faults.lost.length > 0);
  });
});

describe("kill -9 in the middle of an import", () => {
  const SENT = { attempted: IDS, answered: [] };
  const ALL = { attempted: IDS, answered: IDS };

  it(`leaves only whole plants of the file, ${CYCLES_IMPORTING} times, and the same import again completes it`, async () => {
    const data = temporaryFolder();
    let stored = 0;
    for (let cycle = 0; cycle < CYCLES_IMPORTING; cycle += 1) {
      const service = await startService({ data, flags: PATIENT });
      const importing = importPlants(service, { data, ids: IDS }).catch(() => undefined);
      if (cycle === 0) await until("Some are stored", () => countPlants(data) > 0);
      await sleepBetween({ min: 0, max: 400 });
      await service.end("SIGKILL");
      await importing;
      expect(judgeFolder(data, SENT)).toEqual(SOUND);
      const now = countPlants(data);
      expect(now).toBeGreaterThanOrEqual(stored);
      stored = now;
    }
    expect(stored).toBeGreaterThan(0);
    const service = await startService({ data, flags: PATIENT });
    const { read, created, unchanged, refused } = await importPlants(service, { data, ids: IDS });
    await service.end("SIGKILL");
    expect({ read, all: created! + unchanged!, refused }).toEqual({ read: IDS.length, all: IDS.length, refused: 0 });
    expect(unchanged).toBeGreaterThanOrEqual(stored);
    expect(judgeFolder(data, ALL)).toEqual(SOUND);
    tell(
      "kill -9 while importing",
      `${CYCLES_IMPORTING} kills, no plant in part; ${stored} of ${IDS.length} plants were there before the last import`,
    );
  });

  it("would visibly lose plants if the import were answered before its commits", async () => {
    const root = plantBugs(ANSWER_IMPORT_BEFORE_COMMIT);
    // On a busy machine the last commit may be made before the answer has arrived.
    await until("Plants are lost", async () => {
      const data = temporaryFolder();
      const service = await startService({ data, root, flags: PATIENT });
      const { created } = await importPlants(service, { data, ids: IDS });
      await service.end("SIGKILL");
      expect(created).toBe(IDS.length);
      return judgeFolder(data, ALL).lost.length > 0;
    });
  });
});

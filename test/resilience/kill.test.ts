import { afterEach, describe, expect, it } from "bun:test";
import { importPlants, startFlood } from "../support/flood.ts";
import type { Flood, Journal } from "../support/flood.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import type { ServiceProcess } from "../support/process.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import { countPlants, judgeDatabase, judgeFolder, SOUND } from "../support/stored.ts";
import type { Verdict } from "../support/stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

afterEach(killServices);

/** A run counts only if the service was really busy before each kill. */
const ANSWERED_EACH = 50;
/** From the spawn of a restart to the first answer 200 of /readyz. A busy machine has needed 4.4 s for a sound start. */
const READY_MS_MAX = inForm(15_000, 2000);
/** Answered creates a second, in a run that counts. */
const RATE_MIN = inForm(20, 500);
/** Shorter than a checkpoint. */
const CHECKPOINT_MS = 1.5;
/** The plants of the imported file. */
const IDS = Array.from({ length: inForm(50_000, 50_000, 20_000) }, (_, at) => BigInt(at + 1));

/**
 * No bug: checkpoints are frequent but not small, and the log says when each begins and ends, so that a kill can strike
 * in between.
 */
const LOGGED_CHECKPOINTS = [
  { file: "src/store/sqlite/engine/wal.ts", from: "const WAL_PAGES_MAX = 4000;", to: "const WAL_PAGES_MAX = 600;" },
  {
    file: "src/store/sqlite/engine/health.ts",
    from: 'outcome = (await thread.call("checkpoint")) ? "done" : "blocked";',
    to: 'log.info("checkpoint_begins"); outcome = (await thread.call("checkpoint")) ? "done" : "blocked"; log.info("checkpoint_done");',
  },
];

const random = openRandom(seedOf("kill -9"));
const sleepBetween = (min: number, max: number) => Bun.sleep(min + random() * (max - min));

type Scene = Readonly<{
  what: string;
  cycles: number;
  /** Resolves when it is time to kill the service, which is busy. */
  moment: (service: ServiceProcess) => Promise<unknown>;
  /** Whether the kill came at that moment. Where one may come too late, one of all must not. */
  hasHit?: (service: ServiceProcess) => boolean;
  openPlace?: () => Promise<{ flags: readonly string[]; judge: (journal: Pick<Journal, "attempted" | "answered">) => Promise<Verdict> }>;
  flags?: readonly string[];
  copy?: () => string;
}>;

const SCENES: readonly Scene[] = [
  { what: "while it serves", cycles: inForm(10, 500, 3), moment: () => sleepBetween(50, 350) },
  {
    what: "while it serves from PostgreSQL",
    cycles: inForm(5, 50, 2),
    moment: () => sleepBetween(50, 350),
    async openPlace() {
      const database = await (await sharedCluster()).createDatabase();
      return { flags: ["--database", database], judge: (journal) => judgeDatabase(database, journal) };
    },
  },
  {
    what: "while it drains: in the delay, among the last responses, or while the store closes",
    cycles: inForm(5, 50, 2),
    flags: ["--drain-delay-ms", "120"],
    async moment(service) {
      await sleepBetween(50, 250);
      void service.end("SIGTERM");
      await sleepBetween(0, 140);
    },
    hasHit: () => true,
  },
  {
    what: "while it copies the WAL into the database",
    cycles: inForm(5, 50, 1),
    copy: () => plantBugs(LOGGED_CHECKPOINTS),
    async moment({ output }) {
      await new Promise<void>((resolve) => output.on("data", (text) => String(text).includes('"checkpoint_begins"') && resolve()));
      await Bun.sleep(random() * CHECKPOINT_MS);
    },
    hasHit: ({ lines }) => lines.findLast((line) => line.includes('"checkpoint_'))?.includes("begins") ?? false,
  },
];

/** Load, kill -9 at some moment, and a start on what is left: repeatedly on the same store. */
async function killAgain({ cycles, moment, hasHit, openPlace, flags = [], copy }: Scene) {
  const data = temporaryFolder();
  const place = await openPlace?.();
  const options = { data, flags: [...flags, ...(place?.flags ?? [])], ...(copy ? { root: copy() } : {}) };
  const clock = startPatientClock();
  const journals: Journal[] = [];
  const all = { attempted: [] as bigint[], answered: [] as bigint[] };
  let [hits, readyMsMax] = [0, 0];
  let service = await startService(options);
  const { token } = service;
  // A busy machine may hear too late of the moment.
  while (journals.length < cycles || (hits === 0 && journals.length < 20 * cycles)) {
    const flood: Flood = startFlood({ url: service.url, token, firstId: 1n + BigInt(all.attempted.length) });
    await until("It is busy", () => flood.count() > ANSWERED_EACH);
    await moment(service);
    const isStruck = (await service.end("SIGKILL")) === null;
    if (isStruck && (hasHit?.(service) ?? true)) hits += 1;
    const journal = await flood.stop();
    journals.push(journal);
    all.attempted.push(...journal.attempted);
    all.answered.push(...journal.answered);
    const spawned = clock.ms();
    service = await startService(options);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    readyMsMax = Math.max(readyMsMax, clock.ms() - spawned);
  }
  expect(await service.end("SIGTERM")).toBe(0);
  return { journals, all, hits, readyMsMax, verdict: place ? await place.judge(all) : judgeFolder(data, all) };
}

describe("kill -9 under load loses no answered plant, and the next start is ready soon", () => {
  for (const scene of SCENES)
    it(`${scene.what}, ${scene.cycles} times and more`, async () => {
      const { journals, all, hits, readyMsMax, verdict } = await killAgain(scene);
      expect(verdict).toEqual(SOUND);
      expect(hits).toBeGreaterThanOrEqual(scene.hasHit ? 1 : scene.cycles);
      expect(readyMsMax).toBeLessThan(READY_MS_MAX);
      // Of all the time under load: a busy machine may need longer to start a burst than the burst takes.
      if (!scene.hasHit) expect(all.answered.length / journals.reduce((sum, { seconds }) => sum + seconds, 0)).toBeGreaterThan(RATE_MIN);
      tell(`kill -9 ${scene.what}`, {
        kills: journals.length,
        hits,
        attempted: all.attempted.length,
        answered: all.answered.length,
        readyMsMax,
      });
    });
});

it("kill -9 in the middle of an import leaves only whole plants of the file, and the same import again completes it", async () => {
  const data = temporaryFolder();
  const cycles = inForm(3, 20, 1);
  let stored = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const service = await startService({ data, flags: PATIENT });
    const importing = importPlants(service, IDS).catch(() => undefined);
    if (cycle === 0) await until("Some are stored", () => countPlants(data) > 0);
    await sleepBetween(0, 400);
    await service.end("SIGKILL");
    await importing;
    expect(judgeFolder(data, { attempted: IDS, answered: [] })).toEqual(SOUND);
    const now = countPlants(data);
    expect(now).toBeGreaterThanOrEqual(stored);
    stored = now;
  }
  expect(stored).toBeGreaterThan(0);
  const service = await startService({ data, flags: PATIENT });
  const { read, created, unchanged, refused } = await importPlants(service, IDS);
  await service.end("SIGKILL");
  expect({ read, all: created! + unchanged!, refused }).toEqual({ read: IDS.length, all: IDS.length, refused: 0 });
  expect(unchanged).toBeGreaterThanOrEqual(stored);
  expect(judgeFolder(data, { attempted: IDS, answered: IDS })).toEqual(SOUND);
  tell("kill -9 while importing", `${cycles} kills, no plant in part; ${stored} of ${IDS.length} were there before the last import`);
});

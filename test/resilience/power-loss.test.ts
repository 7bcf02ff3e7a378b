import { join } from "node:path";
import { afterEach, expect, it } from "bun:test";
import { CHECKPOINT_OFTEN, plantBugs } from "../support/plant-bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { LOSSES, readImage, replay, writeImage } from "../support/power/image.ts";
import type { Stage } from "../support/power/image.ts";
import { openJournal, readPlants, readServed } from "../support/power/journal.ts";
import { changePlants } from "../support/power/traffic.ts";
import type { Done } from "../support/power/traffic.ts";
import { needs } from "../support/program.ts";
import { killServices, PATIENT, startService, startTraced } from "../support/service-process.ts";
import { answersIn, parseTrace } from "../support/trace.ts";

afterEach(killServices);

const random = openRandom(seedOf("power"));

const CLIENTS = 8;
const STEPS = 25;
/** How the processes end, in turn: after a kill the next one finds a WAL, after a stop none. */
const ENDS = ["SIGKILL", "SIGTERM", "SIGKILL"] as const;
/** The number of responses after which a process is killed. */
const KILL_AFTER_MIN = 80;
const KILL_AFTER_MAX = 180;
const ANSWERED_MIN = 2 * KILL_AFTER_MIN + CLIENTS * STEPS;

const ROUNDS = inForm(1, 20);
const IMAGES = inForm(1050, 1050, 210);
/** The number of images on which a service is started. */
const SERVED = inForm(6, 20, 2);

/** Processes that serve one data folder in turn, under load: what was answered, and every moment of the disk. */
async function record() {
  const root = plantBugs(CHECKPOINT_OFTEN);
  const data = temporaryFolder();
  const journal = openJournal();
  const stages: Stage[] = [];
  const answers: number[] = [];
  const statuses = new Set<number>();
  let lines = 0;
  let done: Done | undefined;
  for (const end of ENDS) {
    const service = await startTraced({ data, root, flags: PATIENT });
    const killAfter = end === "SIGKILL" ? KILL_AFTER_MIN + random() * (KILL_AFTER_MAX - KILL_AFTER_MIN) : Infinity;
    const load = { url: service.url, data, journal, random, clients: CLIENTS, steps: STEPS };
    let count = 0;
    function onAnswer(): void {
      count += 1;
      if (count > killAfter) void service.end("SIGKILL");
    }
    done = await changePlants({ ...load, before: done, onAnswer });
    await service.end(end);
    const text = await service.trace();
    const calls = parseTrace(text);
    for (const { request, status, began } of answersIn(calls)) {
      journal.answer({ request, status, moment: lines + began });
      answers.push(lines + began);
      statuses.add(status);
    }
    const stage = { calls, lines: text.split("\n").length, left: readImage(data) };
    stages.push(stage);
    lines += stage.lines;
  }
  return { root, journal, statuses, answers, disk: replay(data, stages) };
}

type Recorded = Awaited<ReturnType<typeof record>>;

/** What is wrong with images from all over the run, and with services that are started on some of them. */
async function judge({ root, journal, answers, disk }: Recorded) {
  const moments = [...disk.lines, ...answers];
  const cuts = Array.from({ length: IMAGES }, () => moments[Math.trunc(random() * moments.length)]!);
  const folder = join(temporaryFolder(), "image");
  const faults: string[] = [];
  const unsynced = { wal: 0, database: 0 };
  for (const [at, cut] of cuts.toSorted((one, other) => one - other).entries()) {
    disk.advance(cut);
    if (disk.isAtRisk("plants.db-wal")) unsynced.wal += 1;
    if (disk.isAtRisk("plants.db")) unsynced.database += 1;
    const loss = LOSSES[at % LOSSES.length]!;
    const image = disk.image(loss, random);
    try {
      writeImage(image, folder);
      const found = journal.findFaults(readPlants(folder), cut);
      if ((at + 1) % Math.trunc(IMAGES / SERVED) === 0) {
        writeImage(image, folder);
        const service = await startService({ data: folder, root });
        found.push(...journal.findFaults(await readServed({ url: service.url, data: folder }), cut));
        await service.end("SIGKILL");
      }
      if (found.length > 0) faults.push(`line ${cut}, ${loss.what}: ${found[0]}, and ${found.length - 1} more`);
    } catch (reason) {
      faults.push(`line ${cut}, ${loss.what}: ${String(reason)}`);
    }
  }
  return { faults, unsynced };
}

needs("strace").describe("a power cut", () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`leaves a sound store with every plant as answered at any of ${IMAGES} moments of a run under load, round ${round} of ${ROUNDS}`, async () => {
      const run = await record();
      expect(run.statuses).toEqual(new Set([200, 204]));
      expect(run.journal.made()).toBeGreaterThanOrEqual(ANSWERED_MIN);
      const { faults, unsynced } = await judge(run);
      expect(faults).toEqual([]);
      expect(unsynced.wal).toBeGreaterThan(IMAGES / 6);
      expect(unsynced.database).toBeGreaterThan(IMAGES / 25);
      tell("power loss", { IMAGES, made: run.journal.made(), unsynced, SERVED });
    });
  }
});

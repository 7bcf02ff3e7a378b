import { afterEach, expect } from "bun:test";
import { CHECKPOINT_OFTEN, plantBugs } from "../support/plant-bugs.ts";
import { needs } from "../support/program.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, startService, FailedStart, PATIENT, startTraced } from "../support/service-process.ts";
import { basename, join } from "node:path";
import { isWithin } from "../support/patient-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openJournal, readPlants, readServed } from "../support/power/journal.ts";
import { changePlants } from "../support/power/traffic.ts";
import type { Done } from "../support/power/traffic.ts";
import type { TracedService } from "../support/service-process.ts";
import { LOSSES, readImage, replay, writeImage } from "../support/power/image.ts";
import type { Stage } from "../support/power/image.ts";
import { isSync, openPathOf, parseTrace } from "../support/trace.ts";
import type { Call } from "../support/trace.ts";

/** The files of the plants. "." is the folder, which contains the names. */
const STORE: readonly string[] = ["plants.db", "plants.db-wal", "plants.db-journal", "plants.db-shm", "."];

/** What fails: one call, or all calls from it on. */
type Fault = Readonly<{ call: string; error: string; isLasting: boolean }>;

/** What a process did while something failed. */
type Served = Readonly<{
  end: "at its start" | "by itself" | "when told";
  /** Null if a signal ended it. */
  code: number | null;
  said: string;
  statuses: readonly number[];
  isReady: boolean;
  /** Whether the sync of a file failed before it was asked to end. */
  isDistrusted: boolean;
  calls: readonly Call[];
}>;

const LOAD = { clients: 4, steps: 4 } as const;
/** The responses of a scene without faults. */
const ANSWERED = 3 * LOAD.clients * LOAD.steps;
const READY_MS_MAX = 3000;
/** The index of names follows the changes a quarter of a second later. The short form shares its processors. */
const FOLLOW_MS = inForm(1000, 350);
const IMAGES_EACH = inForm(1, 10);

const random = openRandom(seedOf("nth"));
const often = plantBugs(CHECKPOINT_OFTEN);

/** A data folder, with what clients tried on it and what each process in turn did to the files. */
class Scene {
  readonly data = temporaryFolder();
  readonly #journal = openJournal();
  readonly #stages: (Stage & { moment: number })[] = [];
  readonly #files: readonly string[];
  readonly #paths: readonly string[];
  #done: Done | undefined;
  #moment = 0;

  /** `files`: those on which calls are seen, counted, and fail. */
  constructor(files: readonly string[]) {
    this.#files = files;
    this.#paths = files.flatMap((file) => ["-P", join(this.data, file)]);
  }

  answered = () => this.#journal.made();

  /** Serves with a fault at the nth call, until it ends by itself or all changes are sent. */
  async serve({ call, error, isLasting }: Fault, n: number): Promise<Served> {
    const inject = [...this.#paths, "-e", `inject=${call}:error=${error}:when=${n}${isLasting ? "+" : ""}`];
    const options = { data: this.data, root: often, inject, flags: PATIENT };
    const service = await startTraced(options).catch((reason: unknown) => {
      if (reason instanceof FailedStart) return reason;
      throw reason;
    });
    if (service instanceof FailedStart) {
      const { code, message: said, trace } = service;
      return { end: "at its start", code, said, statuses: [], isReady: false, isDistrusted: false, calls: this.#keep(trace) };
    }
    const loaded = await this.#load(service, isLasting ? 0 : READY_MS_MAX);
    const isDistrusted = parseTrace(service.traceSoFar()).some(isFailedSync);
    // Every other time it may clean up.
    const code = await service.end(n % 2 === 0 ? "SIGTERM" : "SIGKILL");
    return { ...loaded, code, said: service.lines.join("\n"), isDistrusted, calls: this.#keep(await service.trace()) };
  }

  /** Serves again, without a fault, and is read: what a start shows of commits whose sync failed must be on the disk. */
  async look(): Promise<void> {
    const service = await this.#serveAgain();
    const shown = await readServed(service);
    this.#moment += 1;
    this.#journal.see(shown, this.#moment);
    await service.end("SIGKILL");
    this.#keep(await service.trace());
  }

  #serveAgain(): Promise<TracedService> {
    return startTraced({ data: this.data, root: often, inject: this.#paths, flags: PATIENT });
  }

  /** Serves again, without a fault. Returns what is wrong with it and with the files that it leaves. */
  async check(): Promise<string[]> {
    const service = await this.#serveAgain();
    const refused = (await this.#change(service.url)).filter((status) => status >= 300);
    const found = this.#journal.findFaults(await readServed(service), this.#moment);
    await service.end("SIGKILL");
    this.#keep(await service.trace());
    return [...found, ...refused.map((status) => `${status} after the restart`), ...this.#findFaults(this.data, this.#moment)];
  }

  /** What is wrong with the disk after a power cut right after each process. Only if all files of the plants are seen. */
  cutPower(): string[] {
    const disk = replay(this.data, this.#stages);
    const folder = join(temporaryFolder(), "image");
    const losses = Array.from({ length: IMAGES_EACH }, () => LOSSES).flat();
    let line = 0;
    return this.#stages.flatMap(({ lines, moment }) => {
      line += lines;
      disk.advance(line);
      return losses.flatMap((loss) => {
        writeImage(disk.image(loss, random), folder);
        return this.#findFaults(folder, moment).map((fault) => `${loss.what}: ${fault}`);
      });
    });
  }

  async #change(url: string): Promise<number[]> {
    const statuses: number[] = [];
    const onAnswer = ({ request, status }: { request: string; status: number }) => {
      this.#moment += 1;
      this.#journal.answer({ request, status, moment: this.#moment });
      statuses.push(status);
    };
    this.#done = await changePlants({ url, data: this.data, journal: this.#journal, random, ...LOAD, before: this.#done, onAnswer });
    return statuses;
  }

  /** All changes, with time to heal in between, unless the service ends before. */
  async #load({ url, exited }: TracedService, readyMsMax: number) {
    const statuses = await this.#change(url);
    await isReadyWithin(url, readyMsMax);
    statuses.push(...(await this.#change(url)));
    const isReady = await isReadyWithin(url, readyMsMax);
    const hasEnded = await Promise.race([exited.then(() => true), Bun.sleep(FOLLOW_MS).then(() => false)]);
    return { statuses, isReady, end: hasEnded ? ("by itself" as const) : ("when told" as const) };
  }

  /** Keeps what an ended process did until now, and returns its calls. */
  #keep(trace: string): readonly Call[] {
    const left = new Map([...readImage(this.data)].filter(([name]) => this.#files.includes(name)));
    const calls = parseTrace(trace);
    this.#stages.push({ calls, lines: trace.split("\n").length, left, moment: this.#moment });
    return calls;
  }

  #findFaults(folder: string, moment: number): string[] {
    try {
      return this.#journal.findFaults(readPlants(folder), moment);
    } catch (reason) {
      // Before the first response there is nothing to lose: a first start that failed on a broken disk may leave an
      // invalid file.
      return moment === 0 ? [] : [String(reason)];
    }
  }
}

/** SQLite ignores the result of a sync of the folder: the service syncs it again itself. */
function isFailedSync(call: Call): boolean {
  return isSync(call) && call.result.startsWith("-1") && basename(openPathOf(call) ?? "").startsWith("plants.db");
}

/** Waits no longer for a service that has ended. */
async function isReadyWithin(url: string, msMax: number): Promise<boolean> {
  const look = () => fetch(`${url}/readyz`).catch(() => undefined);
  return (await isWithin(msMax, async () => [200, undefined].includes((await look())?.status))) && (await look())?.status === 200;
}

const { describe, it } = needs("strace");

afterEach(killServices);

// What fails is the nth call of its thread on certain files, counted from before the start: strace then counts no other
// calls. One thread makes nearly all calls on the files of the plants, another those on the index of names. These
// allocations fail: space on the disk, open files, memory that maps a file. Memory of the process does not: the runtime
// allocates it in large pieces, long before anything needs it, and ends itself if it gets none, which is a kill like
// any other.

/** What a process says that ends because of it. SQLite also says the first when there is no space for the -shm. */
const SAYS: Readonly<Record<string, RegExp>> = {
  EIO: /I\/O error/i,
  ENOSPC: /is full|I\/O error/i,
  EMFILE: /unable to open|EMFILE|too many files are open|I\/O error/i,
  ENOMEM: /out of memory|I\/O error/i,
};

const INDEX = ["plants.db.search", "plants.db.search-wal", "plants.db.search-journal", "plants.db.search-shm"];
const FAILED_SYNC: Fault = { call: "fsync", error: "EIO", isLasting: false };

/** Faults, and in how many runs of the short form each happens. */
const FAULTS: ReadonlyArray<readonly [what: string, files: readonly string[], fault: Fault, runs: number]> = [
  ["the plants", STORE, FAILED_SYNC, 8],
  ["the plants", STORE, { call: "fsync", error: "EIO", isLasting: true }, 1],
  ["the plants", STORE, { call: "pwrite64", error: "EIO", isLasting: false }, 1],
  ["the plants", STORE, { call: "pwrite64", error: "ENOSPC", isLasting: true }, 2],
  ["the plants", STORE, { call: "ftruncate", error: "EIO", isLasting: false }, 1],
  ["the plants", STORE, { call: "openat", error: "EMFILE", isLasting: false }, 1],
  ["the plants", STORE, { call: "mmap", error: "ENOMEM", isLasting: false }, 1],
  ["the index of names", INDEX, FAILED_SYNC, 1],
  ["the index of names", INDEX, { call: "pwrite64", error: "ENOSPC", isLasting: false }, 1],
];

/** More calls than any run makes; strace counts no further. */
const NEVER = 65_535;

/** A run with a fault and the restart after it: what happened, and what was wrong. */
async function run(fault: Fault, n: number, files: readonly string[]) {
  const scene = new Scene(files);
  const served = await scene.serve(fault, n);
  const wrong = [...findMisconduct(served, fault, files), ...findSilence(served, fault)];
  await scene.look();
  wrong.push(...(await scene.check()));
  if (files === STORE) wrong.push(...scene.cutPower());
  const isMet = served.calls.some(({ result }) => result.endsWith("(INJECTED)"));
  expect(wrong.map((what) => `n = ${n}: ${what}`)).toEqual([]);
  return { served, isMet, answered: scene.answered() };
}

/** A process that ends by itself ends with 1, and says why. */
function findSilence({ end, code, said }: Served, { error }: Fault): string[] {
  return end === "when told" || (code === 1 && SAYS[error]!.test(said)) ? [] : [`It ended ${end} with ${code} and said: ${said}`];
}

/**
 * A process that goes on answers 503 while it cannot write, and becomes ready again. After a failed sync it must not go
 * on.
 */
function findMisconduct(served: Served, { isLasting }: Fault, files: readonly string[]): string[] {
  const { end, code, said, statuses, isReady, isDistrusted } = served;
  // A plant whose create was refused cannot be patched or deleted, and a PUT creates it. A fault of the index is no
  // reason to refuse anything.
  const allowed = files === STORE ? [200, 201, 204, 404, 503] : [200, 204];
  const wrong = statuses.filter((status) => !allowed.includes(status)).map((status) => `It answered ${status}.`);
  if (isLasting && said.includes("store_healed")) wrong.push("It said that it had healed.");
  if (end !== "when told") return wrong;
  if (isDistrusted) wrong.push("It went on after a failed sync.");
  if (code !== 0 && code !== null) wrong.push(`It stopped with ${code} and said: ${said}`);
  if (!isReady && !isLasting) wrong.push("It did not become ready again.");
  return wrong;
}

const soundRuns = new Map<readonly string[], ReturnType<typeof run>>();

/** How often the busiest thread makes a call in a run without faults. */
async function countCalls(name: string, files: readonly string[]): Promise<number> {
  const sound = soundRuns.get(files) ?? run(FAILED_SYNC, NEVER, files);
  soundRuns.set(files, sound);
  const { served, answered } = await sound;
  expect(answered).toBe(ANSWERED);
  const threads = served.calls.filter((call) => call.name === name).map(({ thread }) => thread);
  return Math.max(...threads.map((thread) => threads.filter((one) => one === thread).length));
}

/**
 * The calls that fail, each in its own run: in the long form all of them, in the short one a few from all parts of the
 * run.
 */
function* chooseCalls(count: number, runs: number): Generator<number, void, void> {
  for (let n = 1; inForm(false, true); n += 1) yield n;
  // Not every run makes the last of them.
  for (let part = 0; part < runs; part += 1) yield 1 + Math.trunc(((part + random()) * count * 0.8) / runs);
}

describe("a service with a failing call", () => {
  for (const [what, files, fault, runs] of FAULTS) {
    const { call, error, isLasting } = fault;
    const title = `${what}: ${call} ${error}, ${isLasting ? "from then on" : "once"}`;
    it(`goes on, or ends with 1 and says why, and loses nothing that was answered 200, on the files of ${title}`, async () => {
      const count = await countCalls(call, files);
      const ends: string[] = [];
      for (const n of chooseCalls(count, runs)) {
        let { isMet, served } = await run(fault, n, files);
        // The number of changes in a commit varies, and so does the number of calls: one in the middle surely fails.
        if (!isMet && inForm(true, false)) ({ isMet, served } = await run(fault, Math.ceil(n / 2), files));
        if (!isMet) break;
        ends.push(served.end);
      }
      expect(ends.length).toBeGreaterThanOrEqual(inForm(1, count / 2));
      const ofEach = ["at its start", "by itself", "when told"].map((end) => `${ends.filter((is) => is === end).length} ended ${end}`);
      tell("n-th failure", `${title}: ${ends.length} calls, ${ofEach.join(", ")}`);
    });
  }

  // What a start finds after a clean stop: the WAL must get a new name.
  it("ends its next start with 1 and says why if no sync of the folder succeeds", async () => {
    const scene = new Scene(["."]);
    const before = await startService({ data: scene.data });
    await before.end("SIGTERM");
    const { end, code, said } = await scene.serve({ ...FAILED_SYNC, isLasting: true }, 1);
    expect([end, code]).toEqual(["at its start", 1]);
    expect(said).toMatch(SAYS["EIO"]!);
  });
});

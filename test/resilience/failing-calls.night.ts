import { afterEach, expect } from "bun:test";
import { ANSWER_FAILED_COMMIT, CHECKPOINT_OFTEN, GO_ON_AFTER_FAILED_SYNC, TRUST_THE_FOLDER, TRUST_THE_WAL } from "../support/bugs.ts";
import { needs } from "../support/program.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { ANSWERED, openScene, STORE } from "../support/nth/scene.ts";
import type { Fault, Served } from "../support/nth/scene.ts";
import { killServices, startService } from "../support/service-process.ts";

const { describe, it } = needs("strace");

afterEach(killServices);

// What fails is the nth call of its thread on certain files, counted from before the start: strace then counts no other
// calls. One thread makes nearly all calls on the files of the plants, another those on the index of names. These
// allocations fail: space on the disk, open files, memory that maps a file. Memory of the process does not: the runtime
// allocates it in large pieces, long before anything needs it, and ends itself if it gets none, which is a kill like
// any other.

/** A fault, what a process that ends because of it says, and the number of its runs in the short form. */
type Case = Readonly<{ fault: Fault; says: RegExp; runs: number }>;

const IO = /I\/O error/i;
// SQLite also says this when there is no space for the -shm.
const FULL = /is full|I\/O error/i;
const FILES = /unable to open|EMFILE|too many files are open|I\/O error/i;
const MEMORY = /out of memory|I\/O error/i;

const INDEX = ["plants.db.search", "plants.db.search-wal", "plants.db.search-journal", "plants.db.search-shm"];
const FAILED_SYNC: Fault = { call: "fsync", error: "EIO", isLasting: false };
const FAILED_SYNCS: Fault = { call: "fsync", error: "EIO", isLasting: true };
const FAILED_WRITE: Fault = { call: "pwrite64", error: "EIO", isLasting: false };
const STORE_CASES: readonly Case[] = [
  { fault: FAILED_SYNC, says: IO, runs: 2 },
  { fault: FAILED_SYNCS, says: IO, runs: 1 },
  { fault: FAILED_WRITE, says: IO, runs: 1 },
  { fault: { call: "pwrite64", error: "ENOSPC", isLasting: true }, says: FULL, runs: 2 },
  { fault: { call: "ftruncate", error: "EIO", isLasting: false }, says: IO, runs: 1 },
  { fault: { call: "openat", error: "EMFILE", isLasting: false }, says: FILES, runs: 1 },
  { fault: { call: "mmap", error: "ENOMEM", isLasting: false }, says: MEMORY, runs: 1 },
];
const INDEX_CASES: readonly Case[] = [
  { fault: FAILED_SYNC, says: IO, runs: 1 },
  { fault: { call: "pwrite64", error: "ENOSPC", isLasting: false }, says: FULL, runs: 1 },
];

/** More calls than any run makes; strace counts no further. */
const NEVER = 65_535;

const random = openRandom(seedOf("nth"));
const often = plantBugs(CHECKPOINT_OFTEN);

type Place = Readonly<{ files: readonly string[]; root: string }>;

/** A run with a fault and the restart after it: what happened, and what was wrong. */
async function run({ fault, says }: Omit<Case, "runs">, n: number, { files, root }: Place) {
  const scene = openScene({ files, root, random });
  const served = await scene.serve(fault, n);
  const wrong = [...findMisconduct(served, fault, files), ...findSilence(served, says), ...(await scene.check())];
  if (files === STORE) wrong.push(...scene.cutPower());
  const isMet = served.calls.some(({ result }) => result.endsWith("(INJECTED)"));
  return { served, isMet, answered: scene.answered(), wrong: wrong.map((what) => `n = ${n}: ${what}`) };
}

/** A process that ends by itself ends with 1, and says why. */
function findSilence({ end, code, said }: Served, says: RegExp): string[] {
  return end === "when told" || (code === 1 && says.test(said)) ? [] : [`It ended ${end} with ${code} and said: ${said}`];
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

/** How often the busiest thread makes a call in a run without faults. */
async function countCalls(files: readonly string[]): Promise<(name: string) => number> {
  const { served, answered, wrong } = await run({ fault: FAILED_SYNC, says: IO }, NEVER, { files, root: often });
  expect(wrong).toEqual([]);
  expect(answered).toBe(ANSWERED);
  return (name) => {
    const counts = new Map<string, number>();
    for (const call of served.calls) if (call.name === name) counts.set(call.thread, (counts.get(call.thread) ?? 0) + 1);
    return Math.max(...counts.values());
  };
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

/** How the processes ended that met the fault, one call after the other until none met it. */
async function tryCalls(one: Case, count: number, files: readonly string[]): Promise<string[]> {
  const ends: string[] = [];
  for (const n of chooseCalls(count, one.runs)) {
    let met = await run(one, n, { files, root: often });
    expect(met.wrong).toEqual([]);
    // The number of changes in a commit varies, and so does the number of calls: a call in the middle surely happens,
    // and fails.
    if (!met.isMet && inForm(true, false)) met = await run(one, Math.ceil(n / 2), { files, root: often });
    expect(met.wrong).toEqual([]);
    if (!met.isMet) break;
    ends.push(met.served.end);
  }
  return ends;
}

describe("whichever call fails, the service goes on, or ends with 1 and says why, and loses nothing that was answered 200", () => {
  for (const { what, files, cases } of [
    { what: "the plants", files: STORE, cases: STORE_CASES },
    { what: "the index of names", files: INDEX, cases: INDEX_CASES },
  ]) {
    it(`on the files of ${what}`, async () => {
      const count = await countCalls(files);
      for (const one of cases) {
        const { call, error, isLasting } = one.fault;
        const ends = await tryCalls(one, count(call), files);
        // The number of changes in a commit varies, and so does the number of calls.
        expect(ends.length).toBeGreaterThanOrEqual(inForm(1, count(call) / 2));
        const ofEach = ["at its start", "by itself", "when told"].map((end) => `${ends.filter((is) => is === end).length} ended ${end}`);
        tell("n-th failure", `${what}, ${call} ${error}${isLasting ? " from then on" : ""}: ${ends.length} calls, ${ofEach.join(", ")}`);
      }
    });
  }

  // What a start finds after a clean stop: the WAL must get a new name.
  async function startWithoutNames(root: string): Promise<Served> {
    const scene = openScene({ files: ["."], root, random });
    const before = await startService({ data: scene.data, root });
    await before.end("SIGTERM");
    return scene.serve(FAILED_SYNCS, 1);
  }

  it("if no sync of the folder succeeds, the next start ends with 1 and says why", async () => {
    const { end, code, said } = await startWithoutNames(PROJECT);
    expect([end, code]).toEqual(["at its start", 1]);
    expect(said).toMatch(IO);
  });

  it("would be noticed if a start did not check that the folder is synced", async () => {
    expect((await startWithoutNames(plantBugs(TRUST_THE_FOLDER))).end).toBe("when told");
  });

  const lost = "instead of";
  for (const { why, bugs, fault, from, notice } of [
    { why: "it went on after a failed sync", bugs: GO_ON_AFTER_FAILED_SYNC, fault: FAILED_SYNC, from: 18, notice: "It went on" },
    { why: "a start trusted the WAL that a failed sync left", bugs: TRUST_THE_WAL, fault: FAILED_SYNC, from: 18, notice: lost },
    { why: "a failed commit were answered 200", bugs: ANSWER_FAILED_COMMIT, fault: FAILED_WRITE, from: 60, notice: lost },
  ]) {
    it(`would be noticed if ${why}`, async () => {
      const root = plantBugs(bugs);
      const noticed: string[] = [];
      for (let n = from; n < from + 5 && noticed.length === 0; n += 1) {
        const { wrong } = await run({ fault, says: IO }, n, { files: STORE, root });
        noticed.push(...wrong.filter((what) => what.includes(notice)));
      }
      expect(noticed).not.toEqual([]);
    });
  }
});

import { createMetrics } from "../../src/runtime/metrics.ts";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "bun:test";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { createFairShares } from "../../src/runtime/fair-shares.ts";
import { importHandlers } from "../../src/http/import.ts";
import { createLog } from "../../src/runtime/log.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { gunzip } from "../../src/files/gunzip.ts";
import { threadMs } from "../support/processor.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** How long a line takes, by the clock of the handlers, which only this moves. */
const LINE_MS = 1;
const LINES = 40;
const TURN_MS = 5;

/** The longest turn of the event loop, by that clock, while so many imports run of which each line is a piece or more. */
async function longestTurn(count: number, { isRefused = false } = {}): Promise<number> {
  let now = 0;
  const { importPlants } = importHandlers({
    plantsFor: () => ({ import: (plants: readonly NewPlant[]) => Promise.resolve(plants.map(() => "created")) }),
    running: createFairShares(100),
    parsePlant() {
      now += LINE_MS;
      if (isRefused) throw new PlantStoreError("invalid_body");
      return { id: asPlantId(1n), name: "x" };
    },
    lineBytesMax: 65_536,
    audit: { note() {} },
    now: () => now,
  } as never);
  const line = Buffer.from(`{"id":1,"name":"${"x".repeat(8_000)}"}\n`);
  async function* bytes() {
    for (let at = 0; at < LINES; at += 1) yield line;
  }
  const call = () => ({
    body: { type: "application/x-ndjson", bytes: bytes(), isPacked: false },
    headers: new Map(),
    principal: { token: undefined, address: "" },
    connection: { allowSilence() {}, isGone: () => false, isHttp10: false },
    parameters: { onConflict: "refuse", dryRun: false, header: "present", guess: false, ids: "file", dropEmptyTags: false },
  });
  let isDone = false;
  const done = Promise.all(Array.from({ length: count }, async () => importPlants(call() as never))).then(() => (isDone = true));
  let longest = 0;
  for (let before = now; !isDone; before = now) {
    await new Promise(setImmediate);
    longest = Math.max(longest, now - before);
  }
  await done;
  expect(now).toBe(count * LINES * LINE_MS);
  return longest;
}

// One may go on for the rest of its turn before the next one has its own.
it("eight imports take about as much of a turn of the event loop as one", async () => {
  expect(await longestTurn(8)).toBeLessThan(2 * (await longestTurn(1)));
});

it("a turn ends behind the first piece with a refused line, because no commit paces these", async () => {
  expect(await longestTurn(1, { isRefused: true })).toBeLessThanOrEqual(2 * LINE_MS);
});

it("zeros behind gzip take less than half of the processor time of a call for each of them", async () => {
  const zeros = Buffer.alloc(4_000_000);
  const file = Buffer.concat([Bun.gzipSync("id,name\n"), zeros]);
  async function* bytes() {
    yield file;
  }
  let read = Infinity;
  let called = Infinity;
  // In turns, and until the runtime has optimised the code: both take longer on a busy machine.
  for (let round = 0; round < 30 && read >= called / 2; round += 1) {
    let began = threadMs();
    await Array.fromAsync(gunzip(bytes()));
    read = Math.min(read, threadMs() - began);
    began = threadMs();
    expect(zeros.findLastIndex((byte) => byte !== 0)).toBe(-1);
    called = Math.min(called, threadMs() - began);
  }
  expect(read).toBeLessThan(called / 2);
});

/** Makes each turn of the event loop as long as on a busy machine. Call the result to end it. */
function slowTurns(): () => void {
  let isOver = false;
  function drag(): void {
    if (isOver) return;
    Bun.sleepSync(TURN_MS);
    setImmediate(drag);
  }
  drag();
  return () => (isOver = true);
}

/** In how many rows a commit of a hundred plants notes them. */
const ROWS_A_COMMIT = 5;

/** How many commits of imports a create waits for, of seven that were sent before it, while turns take long. */
async function importsAhead(): Promise<number> {
  const path = join(temporaryFolder(), "plants.db");
  const { plants, close } = await openSqliteStore({
    metrics: createMetrics(),
    changesDays: 30,
    path,
    isServing: true,
    queueMax: 10,
    queueWaitMs: 60_000,
    log: createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now }),
    onFatal(reason) {
      throw reason;
    },
  });
  using db = new DatabaseSync(path, { readOnly: true });
  const newest = () => Number(db.prepare("SELECT max(seq) AS seq FROM changes").get()!["seq"]);
  const imports = Array.from({ length: 8 }, async (_, at) => {
    const some = Array.from({ length: 100 }, (__, row) => ({ id: asPlantId(BigInt(at * 100 + row)), name: "imported" }));
    expect(await plants.import(some, { isReplacing: false, isDryRun: false })).toHaveLength(100);
  });
  await imports[0];
  const before = newest();
  const end = slowTurns();
  await plants.create({ id: asPlantId(-1n), name: "created" });
  end();
  const created = db.prepare("SELECT seq FROM changes WHERE ids = x'ffffffffffffffff'").get()!["seq"];
  await Promise.all(imports);
  await close();
  return Math.ceil((Number(created) - 1 - before) / ROWS_A_COMMIT);
}

it("a create waits for the commit of one import at most, however many there are and however slow the event loop is", async () => {
  expect(await importsAhead()).toBeLessThanOrEqual(1);
});

import { afterEach, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../folder.ts";
import { plantBugs } from "../planted.ts";
import { PROJECT } from "../process.ts";
import { CHECKPOINT_OFTEN, GO_ON_AFTER_FAILED_SYNC } from "../bugs.ts";
import { createPlants, findLost, nameOf, openClient } from "./client.ts";
import { killServices, startTraced } from "./service.ts";
import { answeredIn, findUnsynced, parseTrace, syncsOf } from "./trace.ts";

afterEach(killServices);

/** How long to wait for the service to end by itself. */
const END_MS_MAX = 5000;
const EACH = 60;

/** Which sync is to fail: the nth of a file after the start, counted from 1. */
type Target = Readonly<{ root: string; connections: number; file: "plants.db" | "plants.db-wal"; nth: number }>;

/** The flags that make strace fail that sync. It counts by thread and call, so a run without a fault is counted first. */
async function injectionFor({ root, connections, file, nth }: Target, when: "once" | "from then on"): Promise<string[]> {
  const data = temporaryFolder();
  const service = await startTraced({ data, root });
  await createPlants({ url: service.url, data, connections, each: EACH });
  await service.end("SIGKILL");
  const calls = parseTrace(await service.trace());
  const started = calls.find(({ text }) => text.includes(String.raw`\"event\":\"started\"`))?.began ?? Number.NaN;
  const target = syncsOf(calls, file).filter(({ began }) => began > started)[nth - 1];
  if (!target) throw new Error(`The service did not sync ${file} ${nth} times after its start.`);
  const before = calls.filter(({ thread, name, began }) => thread === target.thread && name === target.name && began <= target.began);
  return ["-e", `inject=${target.name}:error=EIO:when=${before.length}${when === "once" ? "" : "+"}`];
}

/** Load until the sync fails, or to the end of the load if the service goes on. */
async function failSync(target: Target, when: "once" | "from then on", endMsMax = END_MS_MAX) {
  const data = temporaryFolder();
  const service = await startTraced({ data, root: target.root, inject: await injectionFor(target, when) });
  const ids = await createPlants({ url: service.url, data, connections: target.connections, each: EACH });
  const status = await Promise.race([service.exited, Bun.sleep(endMsMax).then(() => "it still runs")]);
  await service.end("SIGKILL");
  const calls = parseTrace(await service.trace());
  const names = ids.map(nameOf);
  // The connection may break when an answer is on its way: what was sent counts, not only what arrived.
  const sent = answeredIn(
    calls,
    Array.from({ length: target.connections * EACH }, (_, id) => nameOf(id)),
  );
  const failed = syncsOf(calls, target.file).filter(({ result }) => result.startsWith("-1 EIO"));
  const events = service.lines.map((line) => (JSON.parse(line) as { event: string }).event);
  return { data, ids, names, sent, status, events, failed: failed.length, unsynced: findUnsynced(calls, sent) };
}

describe("a failed sync ends the service, with no 200 for a plant that it had not synced before, and no answered plant lost", () => {
  for (const { why, nth, when } of [
    { why: "the first of the WAL, and all after it", nth: 1, when: "from then on" },
    { why: "the first of the WAL, with those after it said to succeed", nth: 1, when: "once" },
    { why: "the second of the WAL, with those after it said to succeed", nth: 2, when: "once" },
    { why: "the fifth of the WAL, with those after it said to succeed", nth: 5, when: "once" },
    { why: "the thirtieth of the WAL, and all after it", nth: 30, when: "from then on" },
  ] as const) {
    it(why, () => expectEnd({ root: PROJECT, connections: 8, file: "plants.db-wal", nth }, when));
  }

  for (const nth of [1, 2]) {
    it(`that of the database in checkpoint ${nth}, with those after it said to succeed`, () =>
      expectEnd({ root: plantBugs(CHECKPOINT_OFTEN), connections: 1, file: "plants.db", nth }, "once"));
  }

  for (const { why, file, connections } of [
    { why: "of the WAL", file: "plants.db-wal", connections: 8 },
    { why: "of the database in a checkpoint", file: "plants.db", connections: 1 },
  ] as const) {
    it(`a service that went on after a failed sync ${why} would be noticed`, async () => {
      const root = plantBugs([...CHECKPOINT_OFTEN, ...GO_ON_AFTER_FAILED_SYNC]);
      const { status, failed, unsynced } = await failSync({ root, connections, file, nth: 2 }, "once", 500);
      expect(failed).toBe(1);
      expect(status).toBe("it still runs");
      expect(unsynced).not.toEqual([]);
    });
  }
});

async function expectEnd(target: Target, when: "once" | "from then on"): Promise<void> {
  const { data, ids, names, sent, status, events, failed, unsynced } = await failSync(target, when);
  expect(failed).toBeGreaterThan(0);
  expect(status).toBe(1);
  expect(events).toContain("store_failed");
  expect(sent).toEqual(expect.arrayContaining(names));
  expect(unsynced).toEqual([]);
  expect(ids.length).toBeGreaterThanOrEqual(target.nth - 1);
  expect(await findLost({ data, ids })).toEqual([]);
}

it("the start after a failed sync writes and syncs anew what the WAL held, before it answers 200 for it", async () => {
  const { data, sent } = await failSync({ root: PROJECT, connections: 1, file: "plants.db-wal", nth: 3 }, "once");
  const plant = { id: 2, name: nameOf(2) };
  expect(sent).not.toContain(plant.name);
  const service = await startTraced({ data });
  const create = await openClient({ url: service.url, data });
  expect((await create(plant))?.status).toBe(200);
  await service.end("SIGKILL");
  const calls = parseTrace(await service.trace());
  expect(answeredIn(calls, [plant.name])).toEqual([plant.name]);
  expect(findUnsynced(calls, findUnsynced(calls, [plant.name]), "plants.db")).toEqual([]);
});

import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { ANSWER_BEFORE_COMMIT } from "./bugs.ts";
import { temporaryFolder } from "./folder.ts";
import { plantBugs } from "./planted.ts";
import { startProcess } from "./process.ts";
import type { ServiceProcess } from "./process.ts";
import { readToken } from "./service.ts";

const CLIENTS = 32;
const CYCLES = 20;
/** A cycle counts only if the service was really busy: answered creates a second, at the least. */
const RATE_MIN = 1000;

/** What one client knows of its plants: every id it sent, and those that were answered 200. */
type Journal = { attempted: bigint[]; answered: bigint[]; firstAt: number; lastAt: number };

function nameOf(id: bigint): string {
  return `plant ${id} ${"x".repeat(Number(id % 50n))}`;
}

/** Creates one plant after the other until the service is gone. */
async function createUntilGone(service: ServiceProcess, token: string, journal: Journal, nextId: () => bigint): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  for (;;) {
    const id = nextId();
    journal.attempted.push(id);
    try {
      const response = await fetch(`${service.url}/plants`, { method: "POST", body: `{"id":${id},"name":"${nameOf(id)}"}`, headers });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`answered ${response.status}`);
    } catch (reason) {
      if (reason instanceof Error && reason.message.startsWith("answered")) throw reason;
      return;
    }
    journal.answered.push(id);
    journal.lastAt = performance.now();
  }
}

/** One cycle: load, kill -9 at a random moment, restart, and the plants that were answered but are not there. */
async function killOnce({ data, root, firstId }: { data: string; root?: string; firstId: bigint }) {
  const service = await startProcess({ data, ...(root ? { root } : {}) });
  const token = await readToken(data);
  const journal: Journal = { attempted: [], answered: [], firstAt: performance.now(), lastAt: 0 };
  let lastId = firstId;
  const clients = Array.from({ length: CLIENTS }, () => createUntilGone(service, token, journal, () => (lastId += 1n)));
  await Bun.sleep(200 + Math.random() * 400);
  await service.end("SIGKILL");
  await Promise.all(clients);

  const restarted = await startProcess({ data, ...(root ? { root } : {}) });
  const lost = missingFrom(data, journal.answered);
  const strangers = countOutside(data, firstId, journal);
  expect(await restarted.end("SIGTERM")).toBe(0);
  const seconds = (journal.lastAt - journal.firstAt) / 1000;
  return { lost, strangers, answered: journal.answered.length, rate: journal.answered.length / seconds, lastId };
}

function missingFrom(data: string, ids: readonly bigint[]): bigint[] {
  const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  const find = db.prepare("SELECT name FROM plants WHERE id = ?");
  const missing = ids.filter((id) => find.get(id)?.["name"] !== nameOf(id));
  expect({ ...db.prepare("PRAGMA integrity_check").get() }).toEqual({ integrity_check: "ok" });
  db.close();
  return missing;
}

/** Plants of this cycle that nobody sent. */
function countOutside(data: string, firstId: bigint, { attempted }: Journal): number {
  const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  const rows = db.prepare("SELECT id FROM plants WHERE id > ?").all(firstId) as { id: number }[];
  db.close();
  const sent = new Set(attempted);
  return rows.filter(({ id }) => !sent.has(BigInt(id))).length;
}

describe("kill -9 under load", () => {
  const data = temporaryFolder();
  let firstId = 0n;

  for (let cycle = 1; cycle <= CYCLES; cycle += 1) {
    it(`loses no answered plant, time ${cycle} of ${CYCLES}, at ${RATE_MIN} or more answered creates a second`, async () => {
      const { lost, strangers, rate, lastId } = await killOnce({ data, firstId });
      firstId = lastId;
      expect(lost).toEqual([]);
      expect(strangers).toBe(0);
      expect(rate).toBeGreaterThan(RATE_MIN);
    }, 20_000);
  }

  it("would be noticed to lose plants if the answer were sent before the commit", async () => {
    const root = plantBugs(ANSWER_BEFORE_COMMIT);
    const brokenData = temporaryFolder();
    let nextFirstId = 0n;
    let lost = 0;
    for (let cycle = 0; cycle < 10 && lost === 0; cycle += 1) {
      const result = await killOnce({ data: brokenData, root, firstId: nextFirstId });
      nextFirstId = result.lastId;
      lost = result.lost.length;
      expect(result.answered).toBeGreaterThan(0);
    }
    expect(lost).toBeGreaterThan(0);
  }, 60_000);
});

describe("kill -9 in the middle of an import", () => {
  const PLANTS = 200_000;
  const LINES = Array.from({ length: PLANTS }, (_, at) => `{"id":${at + 1},"name":"plant ${at + 1}","tag":"tag ${at % 7}"}\n`).join("");

  async function importAll({ url }: ServiceProcess, data: string): Promise<Response> {
    const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/x-ndjson" };
    return fetch(`${url}/plants/import`, { method: "POST", headers, body: LINES });
  }

  it("leaves whole plants of the file only, and the same import again completes it", async () => {
    const data = temporaryFolder();
    let stored = 0;
    for (let cycle = 0; cycle < 3; cycle += 1) {
      const service = await startProcess({ data });
      const importing = importAll(service, data).catch(() => undefined);
      await Bun.sleep(100 + Math.random() * 250);
      await service.end("SIGKILL");
      await importing;
      const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
      const wrong = db.prepare("SELECT count(*) AS plants FROM plants WHERE name <> 'plant ' || id OR tag <> 'tag ' || ((id - 1) % 7)");
      expect({ ...wrong.get() }).toEqual({ plants: 0 });
      expect({ ...db.prepare("PRAGMA integrity_check").get() }).toEqual({ integrity_check: "ok" });
      const now = Number(db.prepare("SELECT count(*) AS plants FROM plants").get()?.["plants"]);
      db.close();
      expect(now).toBeGreaterThanOrEqual(stored);
      stored = now;
    }
    expect(stored).toBeGreaterThan(0);
    const service = await startProcess({ data });
    const { read, created, unchanged, refused } = (await (await importAll(service, data)).json()) as Record<string, number>;
    expect({ read, all: created! + unchanged!, refused }).toEqual({ read: PLANTS, all: PLANTS, refused: 0 });
    expect(unchanged).toBeGreaterThanOrEqual(stored);
    await service.end("SIGTERM");
  }, 30_000);
});

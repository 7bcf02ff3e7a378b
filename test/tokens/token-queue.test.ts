import { createMetrics } from "../../src/runtime/metrics.ts";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "bun:test";
import { issueToken } from "../../src/auth/issue.ts";
import { parseConfig } from "../../src/app/config.ts";
import { createLog } from "../../src/runtime/log.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { openStore } from "../../src/app/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { ENGINES } from "../support/engines.ts";
import type { Engine } from "../support/engines.ts";
import { sleepPatiently, startPatientClock } from "../support/patient-clock.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { lockWrites } from "../support/write-lock.ts";

// What changes tokens waits in a queue with limits, as what changes plants does.

const log = createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now });

function onFatal(reason: Error): never {
  throw reason;
}

const closing: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
type Place = Readonly<{
  url: string;
  lock: () => Promise<() => Promise<void>>;
  makeToken: () => Promise<{ id: string; token: string }>;
}>;

/** A service with places for five changes of one token that wait, and ten in all. */
async function open({ openFlags }: Engine, queueWaitMs = 5000): Promise<Place> {
  const flags = { data: temporaryFolder(), ...(await openFlags()) };
  const { url, token, stop } = await startTestService({ queueMax: "5", queueWaitMs: String(queueWaitMs), ...flags });
  closing.push(stop);
  return {
    url,
    lock: () => lockWrites(flags),
    makeToken: async () => (await create(url, token)).json() as Promise<{ id: string; token: string }>,
  };
}

function create(url: string, token: string): Promise<Response> {
  const body = JSON.stringify({ name: "x", scopes: ["admin"] });
  return fetch(`${url}/tokens`, { method: "POST", body, headers: { authorization: `Bearer ${token}` } });
}

function revoke(url: string, token: string, id: string): Promise<Response> {
  return fetch(`${url}/tokens/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${token}` } });
}

async function outcomeOf(sent: Promise<Response>): Promise<string> {
  const response = await sent;
  if (response.status < 300) return String(response.status);
  const { error } = (await response.json()) as { error: number };
  return `${response.status} ${error}, ${response.headers.get("retry-after")}`;
}

type Flooded = Readonly<{ session: number; greedy: readonly string[]; other: readonly string[] }>;

/** What a token is answered that makes and revokes tokens in turns while nothing can be written, and another one behind it. */
async function flood({ url, lock, makeToken }: Place): Promise<Flooded> {
  const [greedy, other, victim, child] = [await makeToken(), await makeToken(), await makeToken(), await makeToken()];
  const unlock = await lock();
  const sent: Array<Promise<string>> = [];
  for (let at = 0; at < 24; at += 1) {
    sent.push(outcomeOf(at % 2 === 0 ? create(url, greedy.token) : revoke(url, greedy.token, victim.id)));
    // Changes wait only behind commits that are under way: PostgreSQL has two of them.
    if (at < 6) await Bun.sleep(20);
  }
  await Bun.sleep(100);
  const session = await fetch(`${url}/session`, { headers: { authorization: `Bearer ${greedy.token}` } });
  const others = [outcomeOf(create(url, other.token)), outcomeOf(revoke(url, other.token, child.id))];
  await Bun.sleep(100);
  await unlock();
  return { session: session.status, greedy: await Promise.all(sent), other: await Promise.all(others) };
}

const OVERLOADED = "503 50300, 1";

for (const engine of ENGINES) {
  describe(`changes of tokens, on ${engine.engine}`, () => {
    it("are refused as overloaded past the share of a token, and wait when they are those of another", async () => {
      const { session, greedy, other } = await flood(await open(engine));
      // What writes nothing needs no place.
      expect(session).toBe(200);
      expect(other).toEqual(["200", "204"]);
      expect(greedy.filter((outcome) => outcome === OVERLOADED).length).toBeGreaterThan(10);
      expect(new Set(greedy)).toEqual(new Set(["200", "204", OVERLOADED]));
    });

    it("wait no longer than queueWaitMs", async () => {
      const { url, lock, makeToken } = await open(engine, 300);
      const [maker, victim] = [await makeToken(), await makeToken()];
      const unlock = await lock();
      const clock = startPatientClock();
      const sent: Array<Promise<string>> = [];
      for (let at = 0; at < 4; at += 1) {
        sent.push(outcomeOf(at % 2 === 0 ? create(url, maker.token) : revoke(url, maker.token, victim.id)));
        await Bun.sleep(20);
      }
      for (const outcome of await Promise.all(sent)) expect(outcome).toMatch(/^503 5030[01], 1$/);
      // Without that limit, two commits of SQLite would wait a second each for the lock, and PostgreSQL five for its own.
      expect(clock.ms()).toBeLessThan(1800);
      await unlock();
    });

    it("are refused as draining when the store closes, but for those whose commit has begun", async () => {
      const data = temporaryFolder();
      const flags = await engine.openFlags();
      const store = await openStore(parseConfig({}, { data, ...flags }), {
        isServing: true,
        isNew: true,
        log,
        metrics: createMetrics(),
        onFatal,
      });
      const unlock = await lockWrites({ data, ...flags });
      const running = issue(store, 0);
      await sleepPatiently(50);
      // On PostgreSQL a second commit may run.
      const second = issue(store, 1).catch(() => "draining");
      await sleepPatiently(50);
      const waiting = [rejectionOf(issue(store, 2)), rejectionOf(store.tokens.revoke("id0", Date.now(), { cascade: true }))];
      const closed = store.close();
      for (const reason of await Promise.all([...waiting, rejectionOf(issue(store, 3))]))
        expect(reason).toMatchObject({ code: "draining" });
      await unlock();
      expect(await running).toBe("created");
      await Promise.all([second, closed]);
    });
  });
}

function issue({ tokens }: Store, at: number): Promise<string> {
  return tokens.create({ id: `id${at}`, name: "x", scopes: ["plants:read"], created: 0 }, `hash ${at}`);
}

/** How many commits the WAL of SQLite holds: the last frame of each has the size of the database (sqlite.org/fileformat2.html, 4.1). */
function commitsIn(data: string): number {
  const wal = readFileSync(join(data, "plants.db-wal"));
  const frameBytes = 24 + wal.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameBytes <= wal.length; at += frameBytes) {
    const isOfThisWal = wal.readBigUInt64BE(at + 8) === wal.readBigUInt64BE(16);
    if (isOfThisWal && wal.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}

describe("on SQLite", () => {
  it("changes of tokens and plants that wait together share one commit", async () => {
    const data = temporaryFolder();
    // Not to serve: the index of names would commit too.
    const store = await openStore(parseConfig({}, { data }), { isServing: false, isNew: true, log, metrics: createMetrics(), onFatal });
    closing.push(() => store.close());
    await issue(store, 0);
    const before = commitsIn(data);
    const unlock = await lockWrites({ data });
    const running = store.plants.create({ id: asPlantId(1n), name: "a" });
    await sleepPatiently(50);
    const waiting = Promise.all([
      store.plants.create({ id: asPlantId(2n), name: "b" }),
      store.plants.compareAndSwap({ from: undefined, to: { id: asPlantId(3n), name: "c" } }),
      issue(store, 1),
      store.tokens.revoke("id0", 1, { cascade: true }),
      store.tokens.touch(new Map([["id0", 60_000]])),
      issueToken({ tokens: store.tokens, random: randomBytes, now: Date.now, name: "y", scopes: ["admin"] }),
    ]);
    await unlock();
    await running;
    expect((await waiting).slice(0, 4)).toEqual(["created", true, "created", ["id0"]]);
    expect(commitsIn(data) - before).toBe(2);
  });
});

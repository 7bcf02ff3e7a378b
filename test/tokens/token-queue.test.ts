import { afterEach, describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import type { Engine } from "../support/engines.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { lockWrites } from "../support/write-lock.ts";

// What changes tokens waits in a queue with limits, as what changes plants does.

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
  });
}

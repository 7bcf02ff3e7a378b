import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "bun:test";
import { median } from "../../bench/quantile.ts";
import { createToken, hashToken } from "../../src/auth/secret.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { startArrivals } from "../support/arrivals.ts";
import { endAttacks } from "../support/attack/attack.ts";
import { inForm, tell } from "../support/run-form.ts";
import { compareTurns } from "../support/attack/clients.ts";
import { askAs, killServices, PATIENT, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { readVitals } from "../support/vitals.ts";

afterAll(async () => {
  endAttacks();
  await killServices();
});

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET = { start: 6, end: 38 } as const;

/** A well-formed token with this secret: each byte draws the character at its position in the alphabet. */
function tokenOf(secret: string): string {
  return createToken(() => Uint8Array.from(secret, (character) => ALPHABET.indexOf(character)));
}

describe("the time to refuse a wrong token", () => {
  const PAIRS = inForm(200, 20_000);
  /** A fair coin is more than five deviations from the middle once in 1.7 million runs. */
  const DEVIATIONS_MAX = 5;
  const SHARED_HASH_DIGITS = 2;

  /** A wrong token with all but the last two characters of the secret of a right one. */
  function shareStart(right: string): string {
    const secret = right.slice(SECRET.start, SECRET.end);
    for (;;) {
      const wrong = tokenOf(secret.slice(0, -2) + createToken(randomBytes).slice(SECRET.start, SECRET.start + 2));
      if (wrong !== right) return wrong;
    }
  }

  /** A wrong token whose hash begins like that of a right one, by which tokens are looked up. */
  function shareHash(right: string): string {
    const start = hashToken(right).slice(0, SHARED_HASH_DIGITS);
    for (;;) {
      const wrong = createToken(randomBytes);
      if (hashToken(wrong).startsWith(start)) return wrong;
    }
  }

  async function time(service: Service, token: string): Promise<number> {
    const start = performance.now();
    const response = await askAs(token, service).ask("GET", "/plants/1");
    await response.arrayBuffer();
    expect(response.status).toBe(401);
    return performance.now() - start;
  }

  /**
   * Refuses pairs of wrong tokens in random order: one shares something with a right token, the other as much with a
   * token that does not exist. With equal times, each would be slower equally often: returns by how many deviations of
   * a fair coin the result differs. Other load on the machine affects both. Tokens that share nothing would be another
   * question: similar data is read faster, right or not.
   */
  async function compare(service: Service, share: (right: string) => string): Promise<number> {
    const random = openRandom(seedOf("order of tokens"));
    const decoy = createToken(randomBytes);
    let slower = 0;
    const times: [number[], number[]] = [[], []];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const [like, unlike] = [share(service.token), share(decoy)];
      const isLikeFirst = random() < 0.5;
      const first = await time(service, isLikeFirst ? like : unlike);
      const second = await time(service, isLikeFirst ? unlike : like);
      times[0].push(isLikeFirst ? first : second);
      times[1].push(isLikeFirst ? second : first);
      if (times[0].at(-1)! > times[1].at(-1)!) slower += 1;
    }
    const deviations = (slower - PAIRS / 2) / Math.sqrt(PAIRS / 4);
    const [like, unlike] = times.map(median);
    tell("tokens", { like, unlike, slower, PAIRS });
    return deviations;
  }

  for (const { what, share } of [
    { what: "30 of the 32 characters of its secret", share: shareStart },
    { what: "the first 8 bits of its hash", share: shareHash },
  ]) {
    it(`does not reveal whether it shares ${what} with a right one`, async () => {
      expect(Math.abs(await compare(await startService({ flags: PATIENT }), share))).toBeLessThan(DEVIATIONS_MAX);
    });
  }
});

describe("a flood of tokens that were never issued", () => {
  const PER_SECOND = inForm(1000, 5000);
  const ROUNDS = inForm(3, 10);
  const ROUND_MS = inForm(1000, 5000);
  const ANSWERED_MIN = 300;
  /**
   * On a busy machine the flood and the measuring clients wait for a processor too: up to here a p99 says nothing of
   * the service.
   */
  const P99_FLOOR_MS = inForm(250, 30);
  /**
   * Ten thousand remembered tokens are a few megabytes, the connections a few more, and uncollected garbage the rest.
   */
  const GROWTH_MEGABYTES_MAX = 100;

  it(`causes the others no error and at most doubles their p99, with bounded memory, at ${PER_SECOND} a second`, async () => {
    const service = await startService({ flags: PATIENT });
    const statuses = new Set<string>();
    const memory: number[] = [];
    let refused = 0;
    async function attack() {
      const flood = await startArrivals({ url: service.url, rate: PER_SECOND, seconds: ROUND_MS / 1000, connections: 256, firstId: 0 });
      return {
        async end() {
          const counts = (await flood.ended).statuses;
          for (const status of Object.keys(counts)) statuses.add(status);
          refused += counts["401"] ?? 0;
          memory.push(readVitals(service.pid).megabytes);
        },
      };
    }
    const { quiet, attacked } = await compareTurns({ ...service, rounds: ROUNDS, roundMs: ROUND_MS, attack });
    const perSecond = Math.round(refused / ((ROUNDS * ROUND_MS) / 1000));
    const [without, beside] = [quiet, attacked].map((seen) => median(seen.map(({ p99 }) => p99))) as [number, number];
    tell("tokens", { without, beside, perSecond, memory });
    expect([...statuses]).toEqual(["401"]);
    expect(perSecond).toBeGreaterThan(PER_SECOND / 4);
    const all = [...quiet, ...attacked];
    expect(all.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(all.reduce((sum, { answered }) => sum + answered, 0)).toBeGreaterThan(ANSWERED_MIN * ROUNDS);
    expect(beside).toBeLessThanOrEqual(Math.max(P99_FLOOR_MS, 2 * without));
    expect(memory.at(-1)! - memory[0]!).toBeLessThan(GROWTH_MEGABYTES_MAX);
  });
});

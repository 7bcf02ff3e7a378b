import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { median } from "../../bench/quantile.ts";
import { createToken, hashToken } from "../../src/auth/secret.ts";
import type { Scope } from "../../src/scope.ts";
import { ENGINES } from "../support/engines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { sendRaw, statusesIn } from "../support/raw-http.ts";
import { readToken } from "../support/service.ts";
import { endAttacks, startStrangers } from "../support/attack/attack.ts";
import { inForm, tell } from "../support/run-form.ts";
import { measureClients } from "../support/attack/others.ts";
import { killServices, startService } from "../support/service-process.ts";
import { readVitals } from "../support/vitals.ts";
import { SAMPLES, STATES, wantedOf } from "../support/token-states.ts";
import type { Outcome, Sample, Tokens } from "../support/token-states.ts";

afterAll(async () => {
  endAttacks();
  await killServices();
});

type Place = Readonly<{ service: ServiceProcess; data: string; url: string; token: string }>;

async function open({
  root = PROJECT,
  flags = {},
  data = temporaryFolder(),
}: Partial<{ root: string; flags: Record<string, string>; data: string }> = {}): Promise<Place> {
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const service = await startService({ data, root, flags: words });
  return { service, data, url: service.url, token: await readToken(data) };
}

async function issueTokens({ url, token }: Place): Promise<Tokens> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  async function issue(scopes: readonly Scope[], days?: number): Promise<{ id: string; token: string }> {
    const body = JSON.stringify({ name: "fire", scopes, days });
    const response = await fetch(`${url}/tokens`, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    return (await response.json()) as { id: string; token: string };
  }
  const scopes = ["plants:read", "plants:write", "admin"] as const;
  // The first token ends with the first use of another one.
  const all = (await issue(scopes)).token;
  const revoked = await issue(scopes);
  expect((await fetch(`${url}/tokens/${revoked.id}`, { method: "DELETE", headers })).status).toBe(204);
  const [read, write, admin] = await Promise.all(scopes.map(async (scope) => (await issue([scope])).token));
  // A millisecond, the minimum.
  const expired = (await issue(scopes, 1e-9)).token;
  return { all, revoked: revoked.token, expired, "plants:read": read!, "plants:write": write!, admin: admin! };
}

async function ask(url: string, sample: Sample, lines: readonly string[], query = ""): Promise<Outcome> {
  const { method, path, body = "", type = "application/json" } = sample;
  const head = [
    `${method} ${path}${query} HTTP/1.1`,
    "Host: plants",
    "Connection: close",
    ...lines,
    ...(body === "" ? [] : [`Content-Type: ${type}`, `Content-Length: ${body.length}`]),
  ];
  const { text } = await sendRaw(url, [`${head.join("\r\n")}\r\n\r\n${body}`]);
  const error = /\r\n\r\n\{"error":(\d+),/.exec(text)?.[1];
  return {
    status: statusesIn(text)[0] ?? 0,
    error: error === undefined ? undefined : Number(error),
    challenge: /^www-authenticate: (.*)\r$/im.exec(text)?.[1],
  };
}

/** Every operation with every state of a token. Returns those with a wrong response. */
async function findFaults(place: Place): Promise<{ asked: number; faults: string[] }> {
  const tokens = await issueTokens(place);
  await ask(place.url, SAMPLES.createPlant, [`Authorization: Bearer ${tokens.all}`]);
  const samples = Object.values(SAMPLES).flatMap((sample) =>
    sample.method === "GET" ? [sample, { ...sample, method: "HEAD" }] : [sample],
  );
  const faults: string[] = [];
  for (const sample of samples) {
    const checks = STATES.map(async (state) => {
      const { status, error, challenge } = wantedOf(sample, state);
      const seen = await ask(place.url, sample, state.lines(tokens), state.query?.(tokens));
      // The number is in the body, which a HEAD does not have.
      const isRight = seen.status === status && seen.challenge === challenge && (sample.method === "HEAD" || seen.error === error);
      if (!isRight) faults.push(`${sample.method} ${sample.path} with ${state.why}: ${JSON.stringify(seen)}`);
    });
    await Promise.all(checks);
  }
  return { asked: samples.length * STATES.length, faults };
}

describe("every operation with every state of a token", () => {
  for (const { engine, openFlags } of ENGINES) {
    it(`is answered with the exact status, number and WWW-Authenticate, on ${engine}`, async () => {
      const { asked, faults } = await findFaults(await open({ flags: await openFlags() }));
      expect(faults).toEqual([]);
      expect(asked).toBeGreaterThan(700);
      tell("tokens", `${asked} pairs of operation and token state on ${engine}`);
    });
  }

  const authenticate = "src/auth/authenticate.ts";
  const bugs: ReadonlyArray<{ why: string; bug: PlantedBug; fault: string }> = [
    {
      why: "the service forgot the scope",
      bug: { file: "src/auth/authorize.ts", from: "token.scopes.includes(scope)", to: "token.id !== scope" },
      fault: "GET /tokens with a token for plants:read",
    },
    {
      why: "the service forgot the expiry",
      bug: { file: authenticate, from: "(expires === undefined || now < expires)", to: "(expires ?? now) > 0" },
      fault: "GET /plants with an expired token",
    },
    {
      why: "the service forgot the revocation",
      bug: { file: authenticate, from: "revoked === undefined && ", to: "(revoked ?? 1) > 0 && " },
      fault: "POST /plants with a revoked token",
    },
    {
      why: "HEAD bypassed the check",
      bug: {
        file: "src/http/app.ts",
        from: "if (!scope) return admit",
        to: 'if (!scope || method === "HEAD") return admit',
      },
      fault: "HEAD /plants/1 with no header",
    },
  ];
  for (const { why, bug, fault } of bugs) {
    it(`would be noticed if ${why}`, async () => {
      const { faults } = await findFaults(await open({ root: plantBugs([bug]) }));
      expect(faults.filter((line) => line.startsWith(`${fault}: {"status":200`))).toHaveLength(1);
    });
  }
});

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET = { start: 6, end: 38 } as const;

/** A well-formed token with this secret: each byte draws the character at its position in the alphabet. */
function tokenOf(secret: string): string {
  return createToken(() => Uint8Array.from(secret, (character) => ALPHABET.indexOf(character)));
}

describe("the time to refuse a wrong token", () => {
  const PAIRS = inForm(400, 20_000);
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

  async function time({ url }: Place, token: string): Promise<number> {
    const start = performance.now();
    const response = await fetch(`${url}/plants/1`, { headers: { authorization: `Bearer ${token}` } });
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
  async function compare(place: Place, share: (right: string) => string): Promise<number> {
    const random = openRandom(seedOf("order of tokens"));
    const decoy = createToken(randomBytes);
    let slower = 0;
    const times: [number[], number[]] = [[], []];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const [like, unlike] = [share(place.token), share(decoy)];
      const isLikeFirst = random() < 0.5;
      const first = await time(place, isLikeFirst ? like : unlike);
      const second = await time(place, isLikeFirst ? unlike : like);
      times[0].push(isLikeFirst ? first : second);
      times[1].push(isLikeFirst ? second : first);
      if (times[0].at(-1)! > times[1].at(-1)!) slower += 1;
    }
    const deviations = (slower - PAIRS / 2) / Math.sqrt(PAIRS / 4);
    const [like, unlike] = times.map((each) => `${(median(each) * 1000).toFixed(0)} µs`);
    tell(
      "tokens",
      `wrong tokens like the right one ${like}, like another ${unlike} (medians), the first slower in ${slower} of ${PAIRS} pairs`,
    );
    return deviations;
  }

  for (const { what, share } of [
    { what: "30 of the 32 characters of its secret", share: shareStart },
    { what: "the first 8 bits of its hash", share: shareHash },
  ]) {
    it(`does not reveal whether it shares ${what} with a right one`, async () => {
      expect(Math.abs(await compare(await open(), share))).toBeLessThan(DEVIATIONS_MAX);
    });
  }

  it("would visibly reveal it if the service compared character by character and stopped at the first difference", async () => {
    const data = temporaryFolder();
    const path = JSON.stringify(join(data, "first-token"));
    const leak = `const right = (await import("node:fs")).readFileSync(${path}, "utf8"); for (let at = 0; credentials[at] === right[at]; at += 1) hashToken(right.repeat(60)); `;
    const from = "const token = await tokens.find(hashToken(credentials));";
    const place = await open({ data, root: plantBugs([{ file: "src/auth/authenticate.ts", from, to: leak + from }]) });
    expect(await compare(place, shareStart)).toBeGreaterThan(DEVIATIONS_MAX);
  });
});

describe("a flood of tokens that were never issued", () => {
  const PER_SECOND = inForm(1000, 5000);
  const ROUNDS = inForm(3, 10);
  const ROUND_MS = inForm(1000, 5000);
  const CLIENTS = 4;
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

  /** What other clients see with and without the flood, in turns. */
  async function floodInTurns(place: Place, rounds: number) {
    const { pid } = place.service;
    const quiet: number[] = [];
    const flooded: number[] = [];
    const wrong: string[] = [];
    const statuses = new Set<string>();
    const memory: number[] = [];
    let refused = 0;
    let answered = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const times of [quiet, flooded]) {
        const flood = times === flooded ? await startStrangers({ ...place, perSecond: PER_SECOND }) : undefined;
        const firstId = 1 + (round * 2 + (flood ? 1 : 0)) * 1_000_000;
        const seen = await measureClients({ ...place, clients: CLIENTS, forMs: ROUND_MS, firstId });
        const counts = flood?.counts().statuses ?? {};
        await flood?.end();
        for (const status of Object.keys(counts)) statuses.add(status);
        refused += counts["401"] ?? 0;
        answered += seen.answered;
        wrong.push(...seen.wrong);
        times.push(seen.p99);
      }
      memory.push(readVitals(pid).megabytes);
    }
    const perSecond = Math.round(refused / ((rounds * ROUND_MS) / 1000));
    return { without: median(quiet), beside: median(flooded), perSecond, statuses: [...statuses], answered, wrong, memory };
  }

  function isSlowed({ without, beside }: { without: number; beside: number }): boolean {
    return beside > Math.max(P99_FLOOR_MS, 2 * without);
  }

  it(`of ${PER_SECOND} a second causes the others no error and at most doubles their p99, with bounded memory`, async () => {
    const seen = await floodInTurns(await open(), ROUNDS);
    const { without, beside, perSecond, memory } = seen;
    const times = `p99 ${without.toFixed(1)} ms without, ${beside.toFixed(1)} ms beside ${perSecond} wrong tokens a second`;
    tell("tokens", `${times}; ${memory[0]!.toFixed(0)} MB after one round, ${memory.at(-1)!.toFixed(0)} at the end`);
    expect(seen.statuses).toEqual(["401"]);
    expect(perSecond).toBeGreaterThan(PER_SECOND / 4);
    expect(seen.wrong).toEqual([]);
    expect(seen.answered).toBeGreaterThan(ANSWERED_MIN * ROUNDS);
    expect(isSlowed(seen)).toBe(false);
    expect(memory.at(-1)! - memory[0]!).toBeLessThan(GROWTH_MEGABYTES_MAX);
  });

  it("would visibly slow the others if tokens were hashed like passwords", async () => {
    const from = "const token = await tokens.find(hashToken(credentials));";
    const slowly = `(await import("node:crypto")).pbkdf2Sync(credentials, "plants", 20_000, 32, "sha256"); ${from}`;
    const root = plantBugs([{ file: "src/auth/authenticate.ts", from, to: slowly }]);
    expect(isSlowed(await floodInTurns(await open({ root }), 1))).toBe(true);
  });
});

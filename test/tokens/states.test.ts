import { afterAll, describe, expect, it } from "bun:test";
import type { Scope } from "../../src/domain/scope.ts";
import { ENGINES } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { sendRaw, statusesIn } from "../support/raw-http.ts";
import { tell } from "../support/run-form.ts";
import { killServices, startOn } from "../support/service-process.ts";
import { SAMPLES, STATES, wantedOf } from "../support/token-states.ts";
import type { Outcome, Sample, Tokens } from "../support/token-states.ts";

afterAll(killServices);

type Place = Readonly<{ url: string; token: string }>;

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
  for (const engine of ENGINES) {
    it(`is answered with the exact status, number and WWW-Authenticate, on ${engine.engine}`, async () => {
      const { asked, faults } = await findFaults(await startOn(engine, undefined));
      expect(faults).toEqual([]);
      expect(asked).toBeGreaterThan(700);
      tell("tokens", `${asked} pairs of operation and token state on ${engine.engine}`);
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
      const { faults } = await findFaults(await startOn(ENGINES[0]!, plantBugs([bug])));
      expect(faults.filter((line) => line.startsWith(`${fault}: {"status":200`))).toHaveLength(1);
    });
  }
});

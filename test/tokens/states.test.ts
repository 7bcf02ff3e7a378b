import { afterAll, expect, it } from "bun:test";
import { loadContract } from "../../src/domain/contract.ts";
import type { Operation } from "../../src/domain/contract.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { sendRaw, statusesIn } from "../support/raw-http.ts";
import { pathOf, SAMPLES } from "../support/samples.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { STATES, wantedOf } from "../support/token-states.ts";
import type { Outcome, Request, Tokens } from "../support/token-states.ts";

const service = await startTestService();
afterAll(() => service.stop());

async function issueTokens({ url, token }: TestService): Promise<Tokens> {
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

type Sample = Request & Readonly<{ method: string; path: string; body?: string; type?: string }>;

/** A request to the operation, with the same outcome however often it is sent: there is nothing to delete. */
function sampleOf(operation: Operation): Sample {
  const { id, method, path } = operation;
  const request = { ...SAMPLES[id], method, path: pathOf(operation, { plant: method === "DELETE" ? "2" : "1", token: "nothing" }) };
  if (method !== "DELETE") return { ...request, status: 200 };
  return { ...request, status: 404, error: path.startsWith("/plants") ? 40401 : 40402 };
}

async function ask(
  url: string,
  { method, path, body = "", type = "application/json" }: Sample,
  lines: readonly string[],
  query = "",
): Promise<Outcome> {
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

it("every operation with every state of a token is answered with the exact status, number and WWW-Authenticate", async () => {
  const tokens = await issueTokens(service);
  await service.post('{"id":1,"name":"Aloe"}');
  const samples = loadContract().operations.map(sampleOf);
  const reads = samples.filter(({ method }) => method === "GET").map((sample) => ({ ...sample, method: "HEAD" }));
  const faults: string[] = [];
  for (const sample of [...samples, ...reads]) {
    const checks = STATES.map(async (state) => {
      const { status, error, challenge } = wantedOf(sample, state);
      const seen = await ask(service.url, sample, state.lines(tokens), state.query?.(tokens));
      // The number is in the body, which a HEAD does not have.
      const isRight = seen.status === status && seen.challenge === challenge && (sample.method === "HEAD" || seen.error === error);
      if (!isRight) faults.push(`${sample.method} ${sample.path} with ${state.why}: ${JSON.stringify(seen)}`);
    });
    await Promise.all(checks);
  }
  expect(faults).toEqual([]);
  expect((samples.length + reads.length) * STATES.length).toBeGreaterThan(700);
});

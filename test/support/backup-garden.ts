import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect } from "bun:test";
import { issueToken } from "../../src/auth/issue.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { runOn } from "./backups.ts";
import type { Place } from "./backups.ts";
import { ENGINES } from "./engines.ts";
import { startTestService } from "./service.ts";
import type { TestService } from "./service.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A service whose store was backed up into `file` of `folder`, and what a client saw of it then. */
export async function openGarden(engine: string, folder: string = temporaryFolder()) {
  const place = await newPlace(engine);
  const { service, secrets } = await fillStore(place);
  const file = join(folder, `${engine}.gz`);
  const seen = await look(service, secrets);
  // Before the minute in which it is stored when tokens were last used.
  const told = await runOn(place, ["backup", file]);
  return { engine, place, service, secrets, file, seen, told };
}

/** A new place for a store: `home` for a service, which may keep its first token there. */
export async function newPlace(engine: string): Promise<Place> {
  const { openFlags } = ENGINES.find((one) => one.engine === engine)!;
  return { data: join(temporaryFolder(), "data"), ...(await openFlags()) };
}

/** Names that are hard to write, and ids at the ends of their range. */
const HOSTILE = [
  { id: "-9223372036854775808", name: "NUL \0 and \u0001 and \u00010", tag: "\0" },
  { id: "-1", name: '{"end":{"tokens":0,"plants":0}}', tag: '"\\\n\r\t\u2028' },
  { id: "0", name: "", tag: "" },
  { id: "1", name: "\u001b[2J\u202e𐀀🌱" },
  { id: "9007199254740993", name: "x".repeat(60_000), tag: "y".repeat(2000) },
  { id: "9223372036854775807", name: "{}", tag: "NULL" },
];

export function issue({ store: { tokens } }: TestService, name: string, scopes: readonly Scope[], lifetimeMs?: number) {
  return issueToken({ tokens, random: randomBytes, now: Date.now, name, scopes, lifetimeMs });
}

/** A store with hostile plants in an order of creation that is not that of their ids, and tokens in all states. */
async function fillStore(place: Place) {
  const service = await startTestService(place);
  for (const { id, ...plant } of [...HOSTILE.slice(3), ...HOSTILE.slice(0, 3)]) {
    expect((await service.post(`{"id":${id},${JSON.stringify(plant).slice(1)}`)).status).toBe(200);
  }
  const admin = await issue(service, "admin \u001b[2J\u202e", SCOPES);
  const reader = await issue(service, "reader", ["plants:read"], 86_400_000);
  const revoked = await issue(service, "revoked", ["plants:read"]);
  const expired = await issue(service, "expired", ["plants:read"], -1);
  await service.store.tokens.revoke(revoked.token.id, Date.now(), { cascade: true });
  const made = await service.request("/tokens", {
    method: "POST",
    headers: { authorization: `Bearer ${admin.secret}`, "content-type": "application/json" },
    body: '{"name":"child","scopes":["plants:read"]}',
  });
  const child = ((await made.json()) as { token: string }).token;
  return { service, secrets: { admin: admin.secret, reader: reader.secret, revoked: revoked.secret, expired: expired.secret, child } };
}

export async function ask({ url }: { url: string }, secret: string, path: string): Promise<[status: number, text: string]> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
  return [response.status, await response.text()];
}

/** What a client sees of a store. */
export async function look(service: TestService, { admin, ...others }: Readonly<Record<string, string>>) {
  const paths = ["/plants?limit=100", "/plants?sort=newest", "/plants?sort=name", "/plants/count", "/tags", "/plants?q=x", "/tokens"];
  const answers = [];
  for (const path of paths) answers.push(await ask(service, admin!, path));
  const states = [];
  for (const secret of Object.values(others)) states.push((await ask(service, secret, "/plants/1"))[0]);
  return { answers: answers.map(([status, text]) => [status, text.replaceAll(/,"lastUsed":[^,}]*/g, "")]), states };
}

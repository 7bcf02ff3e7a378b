import { join } from "node:path";
import { expect } from "bun:test";
import type { Place } from "./backups.ts";
import type { Engine } from "./engines.ts";
import { importPlants } from "./flood.ts";
import type { ServiceProcess } from "./process.ts";
import { readToken } from "./service.ts";
import { PATIENT, startService } from "./service-process.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Where a new store of an engine is made, as flags name it. */
export async function newPlace({ openFlags }: Engine): Promise<Place> {
  return { data: join(temporaryFolder(), "data"), ...(await openFlags()) };
}

/** The flags of a command for a place. */
export function flagsOf(place: Place): string[] {
  return Object.entries(place).flatMap(([name, value]) => [`--${name}`, value]);
}

/** A service of the store in a place. */
export async function serve(place: Place): Promise<ServiceProcess> {
  const flags = [...PATIENT, ...flagsOf(place).filter((_, at, all) => all[at - (at % 2)] !== "--data")];
  return startService({ data: place["data"]!, flags });
}

type Answer = Readonly<{ token: string; id: string }>;

async function makeToken({ url }: ServiceProcess, maker: string, wanted: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${maker}`, "content-type": "application/json" };
  const response = await fetch(`${url}/tokens`, { method: "POST", headers, body: JSON.stringify(wanted) });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

/** A store with plants and five tokens, which a service serves. */
export async function openGarden(engine: Engine, plants: number) {
  const place = await newPlace(engine);
  const service = await serve(place);
  return { place, service, tokens: await fillGarden(service, { data: place["data"]!, plants }) };
}

/** Fills the store of a service with plants and five tokens, and returns these. */
export async function fillGarden(service: ServiceProcess, { data, plants }: { data: string; plants: number }) {
  const first = await readToken(data);
  const step = 100_000;
  for (let from = 0; from < plants; from += step) {
    const ids = Array.from({ length: Math.min(step, plants - from) }, (_, at) => BigInt(from + at + 1));
    expect(await importPlants(service, { data, ids })).toMatchObject({ created: ids.length });
  }
  const admin = await makeToken(service, first, { name: "admin", scopes: ["plants:read", "plants:write", "admin"] });
  const [reader, writer, revoked, expired] = await Promise.all([
    makeToken(service, admin.token, { name: "reader", scopes: ["plants:read"] }),
    makeToken(service, admin.token, { name: "writer", scopes: ["plants:write"], days: 30 }),
    makeToken(service, admin.token, { name: "revoked", scopes: ["plants:read"] }),
    makeToken(service, admin.token, { name: "expired", scopes: ["plants:read"], days: 1e-9 }),
  ]);
  const headers = { authorization: `Bearer ${admin.token}` };
  expect((await fetch(`${service.url}/tokens/${revoked.id}`, { method: "DELETE", headers })).status).toBe(204);
  return { admin: admin.token, reader: reader.token, writer: writer.token, revoked: revoked.token, expired: expired.token };
}

/** What the five tokens are answered when they read a plant. */
export const STATUSES = { admin: 200, reader: 200, writer: 403, revoked: 401, expired: 401 } as const;

export async function statusesOf({ url }: ServiceProcess, tokens: Readonly<Record<string, string>>): Promise<Record<string, number>> {
  const asked = Object.entries(tokens).map(async ([name, token]) => {
    const { status } = await fetch(`${url}/plants/1`, { headers: { authorization: `Bearer ${token}` } });
    return [name, status] as const;
  });
  return Object.fromEntries(await Promise.all(asked));
}

/** The lines of an export of all plants. */
export async function exportOf({ url }: ServiceProcess, token: string): Promise<string[]> {
  const response = await fetch(`${url}/plants/export`, { headers: { authorization: `Bearer ${token}` } });
  return (await response.text()).trimEnd().split("\n");
}

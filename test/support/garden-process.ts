import { expect } from "bun:test";
import { newPlace } from "./backup-garden.ts";
import type { Place } from "./backups.ts";
import { flagsOf } from "./engines.ts";
import type { Engine } from "./engines.ts";
import { importPlants } from "./flood.ts";
import { readToken } from "./service.ts";
import { askAs, PATIENT, startService } from "./service-process.ts";
import type { Service } from "./service-process.ts";

/** A service of the store in a place. */
export function serve({ data, ...place }: Place): Promise<Service> {
  return startService({ data: data!, flags: [...PATIENT, ...flagsOf(place)] });
}

/** A store with plants and five tokens, which a service serves. */
export async function openGarden({ engine }: Engine, plants: number) {
  const place = await newPlace(engine);
  const service = await serve(place);
  return { place, service, tokens: await fillGarden(service, { data: place["data"]!, plants }) };
}

/** Fills the store of a service with plants and five tokens, and returns these. `data`: where its first token is. */
export async function fillGarden(service: Pick<Service, "url">, { data, plants }: { data: string; plants: number }) {
  const first = askAs(await readToken(data), service);
  const step = 100_000;
  for (let from = 0; from < plants; from += step) {
    const ids = Array.from({ length: Math.min(step, plants - from) }, (_, at) => BigInt(from + at + 1));
    expect(await importPlants(first, ids)).toMatchObject({ created: ids.length });
  }
  async function make(name: string, scopes: readonly string[], days?: number): Promise<{ token: string; id: string }> {
    const response = await first.ask("POST", "/tokens", JSON.stringify({ name, scopes, days }));
    expect(response.status).toBe(200);
    return (await response.json()) as { token: string; id: string };
  }
  const admin = await make("admin", ["plants:read", "plants:write", "admin"]);
  const reader = await make("reader", ["plants:read"]);
  const writer = await make("writer", ["plants:write"], 30);
  const revoked = await make("revoked", ["plants:read"]);
  const expired = await make("expired", ["plants:read"], 1e-9);
  expect(await first.statusOf("DELETE", `/tokens/${revoked.id}`)).toBe(204);
  return { admin: admin.token, reader: reader.token, writer: writer.token, revoked: revoked.token, expired: expired.token };
}

/** What the five tokens are answered when they read a plant. */
export const STATUSES = { admin: 200, reader: 200, writer: 403, revoked: 401, expired: 401 } as const;

export async function statusesOf(service: Pick<Service, "url">, tokens: Readonly<Record<string, string>>) {
  const asked = Object.entries(tokens).map(
    async ([name, token]) => [name, await askAs(token, service).statusOf("GET", "/plants/1")] as const,
  );
  return Object.fromEntries(await Promise.all(asked));
}

/** The lines of an export of all plants. */
export async function exportOf(service: Pick<Service, "url">, token: string): Promise<string[]> {
  const response = await askAs(token, service).ask("GET", "/plants/export");
  return (await response.text()).trimEnd().split("\n");
}

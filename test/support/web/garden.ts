import { expect } from "bun:test";
import type { Schemas } from "../../../contract/generated/schemas.ts";
import type { TestService } from "../service.ts";

type StoredPlant = Readonly<{ id: number; name: string; tag?: string }>;

/** What other people, and tests, do at a service while a page shows it. */
export type Garden = Readonly<{
  /** Imports plants as CSV with the columns id, name, tag. */
  plant: (rows: readonly string[]) => Promise<void>;
  /** The plants that are stored. */
  stored: (query?: string) => Promise<readonly StoredPlant[]>;
  /** All plants that are stored, as NDJSON. */
  exported: () => Promise<string>;
  /** Somebody else changes a plant. */
  put: (id: bigint | number, plant: Readonly<{ name: string; tag?: string }>) => Promise<void>;
  /** Somebody else deletes a plant. */
  remove: (id: bigint | number) => Promise<void>;
  makeToken: (scopes: readonly string[], days?: number, name?: string) => Promise<Schemas["CreatedToken"]>;
  /** Returns once the service, which remembers a token for half a second, refuses it. */
  revoke: (token: Readonly<{ id: string }>) => Promise<void>;
}>;

const REMEMBERED_MS = 700;

/** The garden of the service that runs now. */
export function toGarden(running: () => TestService): Garden {
  const json = { "content-type": "application/json" };
  return {
    async plant(rows) {
      const body = `id,name,tag\n${rows.join("\n")}\n`;
      const response = await running().request("/plants/import", { method: "POST", body, headers: { "content-type": "text/csv" } });
      expect(await response.json()).toMatchObject({ created: rows.length });
    },
    stored: async (query = "limit=1000") => (await running().request(`/plants?${query}`)).json() as Promise<readonly StoredPlant[]>,
    exported: async () => (await running().request("/plants/export")).text(),
    async put(id, plant) {
      const init = { method: "PUT", body: JSON.stringify(plant), headers: json };
      expect((await running().request(`/plants/${id}`, init)).ok).toBe(true);
    },
    async remove(id) {
      expect((await running().request(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
    },
    async makeToken(scopes, days, name = "somebody") {
      const init = { method: "POST", body: JSON.stringify({ name, scopes, days }), headers: json };
      return (await running().request("/tokens", init)).json() as Promise<Schemas["CreatedToken"]>;
    },
    async revoke({ id }) {
      expect((await running().request(`/tokens/${id}`, { method: "DELETE" })).status).toBe(204);
      await Bun.sleep(REMEMBERED_MS);
    },
  };
}

/** Rows of CSV for plants 1 to `count`. */
export function rowsOf(count: number, tagOf: (id: number) => string = () => "tree"): string[] {
  return Array.from({ length: count }, (_, at) => `${at + 1},Plant ${at + 1},${tagOf(at + 1)}`);
}

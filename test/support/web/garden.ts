import { expect } from "bun:test";
import type { Schemas } from "../../../contract/generated/schemas.ts";
import type { TestService } from "../service.ts";

type StoredPlant = Readonly<{ id: number; name: string; tag?: string }>;

/** The service remembers a token that was revoked for half a second. */
const REMEMBERED_MS = 700;

/** What other people, and tests, do at the service that runs now, while a page shows it. */
export function toGarden(running: () => TestService) {
  const json = { "content-type": "application/json" };
  return {
    /** Imports plants as CSV with the columns id, name, tag. */
    async plant(rows: readonly string[]): Promise<void> {
      const body = `id,name,tag\n${rows.join("\n")}\n`;
      const response = await running().request("/plants/import", { method: "POST", body, headers: { "content-type": "text/csv" } });
      expect(await response.json()).toMatchObject({ created: rows.length });
    },
    /** The plants that are stored. */
    stored: async (query = "limit=1000") => (await running().request(`/plants?${query}`)).json() as Promise<readonly StoredPlant[]>,
    /** All plants that are stored, as NDJSON. */
    exported: async () => (await running().request("/plants/export")).text(),
    /** Someone else changes a plant. */
    async put(id: bigint | number, plant: Readonly<{ name: string; tag?: string }>): Promise<void> {
      const init = { method: "PUT", body: JSON.stringify(plant), headers: json };
      expect((await running().request(`/plants/${id}`, init)).ok).toBe(true);
    },
    /** Someone else deletes a plant. */
    async remove(id: bigint | number): Promise<void> {
      expect((await running().request(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
    },
    async makeToken(scopes: readonly string[], days?: number, name = "someone") {
      const init = { method: "POST", body: JSON.stringify({ name, scopes, days }), headers: json };
      return (await running().request("/tokens", init)).json() as Promise<Schemas["CreatedToken"]>;
    },
    /** Returns once the service refuses the token. */
    async revoke({ id }: Readonly<{ id: string }>): Promise<void> {
      expect((await running().request(`/tokens/${id}`, { method: "DELETE" })).status).toBe(204);
      await Bun.sleep(REMEMBERED_MS);
    },
  };
}

/** Rows of CSV for plants 1 to `count`. */
export function rowsOf(count: number, tagOf: (id: number) => string = () => "tree"): string[] {
  return Array.from({ length: count }, (_, at) => `${at + 1},Plant ${at + 1},${tagOf(at + 1)}`);
}

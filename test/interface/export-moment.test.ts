import { expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { holdExport, largeName, largePlants, PLANTS } from "../support/held-export.ts";
import { startTestService } from "../support/service.ts";

const LAST = PLANTS - 1;

// What ends an export that is not read: export-moment.night.ts.
it.each(ENGINES)(
  "an export on $engine holds what was true at one moment: all that was answered before, and no change after",
  async ({ openFlags }) => {
    const service = await startTestService(await openFlags());
    async function put(id: number, version: string): Promise<void> {
      expect((await service.request(`/plants/${id}`, { method: "PUT", body: JSON.stringify({ name: largeName(id, version) }) })).ok).toBe(
        true,
      );
    }
    expect((await service.request("/plants/import", { method: "POST", body: largePlants() })).status).toBe(200);
    for (const version of ["one", "two", "three"]) {
      await put(LAST, version);
      const rest = await holdExport(service);
      await put(0, "new");
      await put(LAST, "new");
      await put(PLANTS, "new");
      expect((await service.request(`/plants/${LAST - 1}`, { method: "DELETE" })).status).toBe(204);
      expect(await rest()).toEqual({ count: PLANTS, last: [`${LAST - 1} old`, `${LAST} ${version}`], isWhole: true });
      expect((await service.request(`/plants/${PLANTS}`, { method: "DELETE" })).status).toBe(204);
      await put(LAST - 1, "old");
    }
    await service.stop();
  },
);

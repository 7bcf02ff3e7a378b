import { expect, it } from "bun:test";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { LateError } from "../../src/store/postgres/engine/failure.ts";
import { Health } from "../../src/store/postgres/engine/health.ts";
import { openLog } from "../support/postgres/store.ts";

function openHealth() {
  const log = openLog();
  return { health: new Health(log), events: () => log.lines.map((line) => (JSON.parse(line) as { event: string }).event) };
}

/** What is logged of a probe that fails, by a store that is open, or was closed meanwhile. */
async function logFailedProbe({ isClosed }: { isClosed: boolean }): Promise<string[]> {
  const { health, events } = openHealth();
  const probe = Promise.withResolvers<undefined>();
  health.watch(() => probe.promise);
  health.failed(new PlantStoreError("store_unavailable"), new LateError(1));
  if (isClosed) health.close();
  const cause = new Error("Cannot use a pool after calling end on the pool");
  const error = new PlantStoreError("store_unavailable", { cause });
  // As the statement of the look reports it, and then the look itself.
  health.failed(error, cause);
  probe.reject(error);
  await Bun.sleep(1);
  health.close();
  return events();
}

it("trouble that heals and comes back at once is trouble each time, and is logged once", async () => {
  const { health, events } = openHealth();
  health.watch(() => Promise.resolve(undefined));
  for (let times = 0; times < 3; times += 1) {
    health.failed(new PlantStoreError("store_unavailable"), new Error("refused"));
    expect(() => health.check()).toThrow();
    await Bun.sleep(1);
    expect(() => health.check()).not.toThrow();
  }
  health.close();
  expect(events()).toEqual(["store_trouble", "store_healed"]);
});

it("a command that ends while the database is looked at reports no trouble, and a store that is open does", async () => {
  expect([await logFailedProbe({ isClosed: true }), await logFailedProbe({ isClosed: false })]).toEqual([[], ["store_trouble"]]);
});

import { expect, it } from "bun:test";
import { PlantStoreError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { LateError } from "../../src/store/postgres/engine/failure.ts";
import { createHealth } from "../../src/store/postgres/engine/health.ts";

/** What is logged of a probe that fails, by a store that is open, or was closed meanwhile. */
async function logFailedProbe({ isClosed }: { isClosed: boolean }): Promise<string[]> {
  const logged: string[] = [];
  const health = createHealth(createLog({ level: "info", isTerminal: false, write: (line) => logged.push(line), now: Date.now }));
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
  return logged.map((line) => (JSON.parse(line) as { event: string }).event);
}

it("a command that ends while the database is looked at reports no trouble, and a store that is open does", async () => {
  expect([await logFailedProbe({ isClosed: true }), await logFailedProbe({ isClosed: false })]).toEqual([[], ["store_trouble"]]);
});

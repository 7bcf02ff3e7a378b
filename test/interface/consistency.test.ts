import { expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { findStale, WRITES } from "../support/read-matrix.ts";
import { startTestService } from "../support/service.ts";

const { "import many": _many, "import in place of many": _place, ...FEW_WRITES } = WRITES;

// With many plants on PostgreSQL, and beside imports of another sender: consistency.night.ts.
it.each(ENGINES)("on $engine what was answered is in every read that begins later", async ({ engine, openFlags }) => {
  const service = await startTestService(await openFlags());
  const { writes, reads, cells, stale } = await findStale(service.request, { writes: engine === "SQLite" ? WRITES : FEW_WRITES });
  await service.stop();
  console.log(`figure: reads after writes: ${writes} kinds of writes, ${reads} kinds of reads, ${cells} cells on ${engine}`);
  expect(stale).toEqual([]);
  // Each write is followed by each read, and nearly each of these is repeated with a condition.
  expect(cells).toBeGreaterThan(2000);
});

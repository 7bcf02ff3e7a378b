import { expect, it } from "bun:test";
import { findStale } from "../support/read-matrix.ts";
import { startTestService } from "../support/service.ts";

// On PostgreSQL, and beside imports of another sender: consistency.night.ts.
it("what was answered is in every read that begins later", async () => {
  const service = await startTestService();
  const { writes, reads, cells, stale } = await findStale(service.request);
  await service.stop();
  console.log(`figure: reads after writes: ${writes} kinds of writes, ${reads} kinds of reads, ${cells} cells`);
  expect(stale).toEqual([]);
  // Each write is followed by each read, and nearly each of these is repeated with a condition.
  expect(cells).toBeGreaterThan(2000);
});

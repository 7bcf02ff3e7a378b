import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "bun:test";
import { openWriter } from "../../src/store/sqlite/engine/writer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NOTHING = { changes: 0, bulkChanges: 0 };
const MEGABYTE = 1_000_000;

it("a WAL that grew while an export kept it from starting again gives its room back to the disk, without a restart", () => {
  const path = join(temporaryFolder(), "plants.db");
  const writer = openWriter(path);
  const walBytes = () => statSync(`${path}-wal`).size;
  let id = 0n;
  /** Each has a megabyte. */
  function commit(): void {
    id += 1n;
    writer.importPlants(
      { ids: BigInt64Array.of(id), names: ["A".repeat(MEGABYTE)], tags: [null] },
      { isReplacing: false, isDryRun: false },
      NOTHING,
    );
  }
  commit();
  const exporting = new DatabaseSync(path, { readOnly: true });
  exporting.exec("BEGIN; SELECT count(*) FROM plants");
  while (walBytes() < 100 * MEGABYTE) commit();
  expect(writer.checkpoint()).toBe(false);
  exporting.close();
  expect(writer.checkpoint()).toBe(true);
  commit();
  expect(walBytes()).toBeLessThan(70 * MEGABYTE);
  writer.close();
});

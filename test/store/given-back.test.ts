import { globSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "bun:test";
import { openWriter } from "../../src/store/sqlite/engine/writer.ts";
import { runOn } from "../support/backups.ts";
import { startTestService } from "../support/service.ts";
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

it("a VACUUM of a stopped store without its search index leaves nothing of what was deleted, neither its room nor its name and tag", async () => {
  const data = temporaryFolder();
  const names = () => readdirSync(data).filter((name) => /quercus|fagaceae/i.test(readFileSync(join(data, name), "latin1")));
  const bytes = () => statSync(join(data, "plants.db")).size;
  async function serve(requests: (service: Awaited<ReturnType<typeof startTestService>>) => Promise<unknown>): Promise<void> {
    const service = await startTestService({ data });
    await requests(service);
    await service.stop();
  }
  await serve(async ({ post }) => {
    await post('{"id":1,"name":"Acer"}');
    for (let id = 2; id < 20; id += 1) await post(`{"id":${id},"name":"Quercus ${"robur ".repeat(2000)}","tag":"Fagaceae"}`);
  });
  const full = bytes();
  await serve(async ({ request }) => {
    for (let id = 2; id < 20; id += 1) await request(`/plants/${id}`, { method: "DELETE" });
    // It finds what was answered, so the index has followed.
    expect(await (await request("/plants?q=quercus")).json()).toEqual([]);
  });
  // The search index may have written over its own free room by now, or not yet.
  expect(names()).toContain("plants.db");
  expect(bytes()).toBe(full);

  const db = new DatabaseSync(join(data, "plants.db"));
  db.exec("VACUUM");
  db.close();
  for (const file of globSync(join(data, "plants.db.search*"))) rmSync(file);
  await serve(async ({ request }) => expect(await (await request("/plants")).json()).toEqual([{ id: 1, name: "Acer" }]));
  expect(names()).toEqual([]);
  expect(bytes()).toBeLessThan(full / 4);
  expect((await runOn({ data }, ["check"])).status).toBe(0);
});

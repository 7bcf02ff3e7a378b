import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { startCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { startTestService } from "../support/service.ts";

it("what the documents say leaves nothing of what was deleted or renamed in the tables, indexes and statistics of the database", async () => {
  const text = readFileSync(new URL("../../docs/how-to/back-up-and-restore.md", import.meta.url), "utf8");
  const commands = Array.from(/psql .*VACUUM.*/.exec(text)![0].matchAll(/-c '([^']+)'/g), ([, command]) => command!);
  expect(commands).toHaveLength(3);
  const database = await (await startCluster()).createDatabase();
  const folder = String((await queryOnce(database, "SHOW data_directory"))[0]!["data_directory"]);
  async function kept(): Promise<string[]> {
    await queryOnce(database, "CHECKPOINT");
    const files = globSync(join(folder, "base/**")).filter((file) => statSync(file).isFile());
    const contents = files.map((file) => readFileSync(file, "latin1").toLowerCase()).join();
    return ["meierzwo", "donorzilla", "berrydrei"].filter((word) => contents.includes(word));
  }
  const service = await startTestService({ database });
  for (let id = 1; id < 60; id += 1) await service.post(`{"id":${id},"name":"Rosa, gift of Meierzwo ${id}","tag":"Donorzilla"}`);
  await service.post('{"id":60,"name":"Berrydrei"}');
  await queryOnce(database, "VACUUM (ANALYZE) plants");
  for (let id = 1; id < 60; id += 1) await service.request(`/plants/${id}`, { method: "PUT", body: `{"name":"Rosa ${id}"}` });
  await service.request("/plants/60", { method: "DELETE" });
  expect(await kept()).toEqual(["meierzwo", "donorzilla", "berrydrei"]);
  await queryOnce(database, "VACUUM FULL plants");
  expect(await kept()).toContain("donorzilla");
  for (const command of commands) await queryOnce(database, command);
  expect(await kept()).toEqual([]);
  expect(await (await service.request("/plants?q=rosa&limit=1")).json()).toEqual([{ id: 1, name: "Rosa 1" }]);
  await service.stop();
});

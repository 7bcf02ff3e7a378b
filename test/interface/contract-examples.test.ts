import { readFileSync } from "node:fs";
import { expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

const file = readFileSync(new URL("../../examples/plants.csv", import.meta.url), "utf8");
const [columns, ...lines] = file.trimEnd().split("\n");
// No cell of the file is quoted.
const plants = lines.map((line) => line.split(",") as [id: string, name: string, tag: string]);

async function importFile(service: TestService): Promise<unknown> {
  const response = await service.request("/plants/import", { method: "POST", body: file, headers: { "content-type": "text/csv" } });
  expect(response.status).toBe(200);
  return response.json();
}

it("creates every plant of examples/plants.csv and finds them all after a restart", async () => {
  expect(columns).toBe("id,name,tag");
  expect(plants.map(([id]) => id)).toEqual(Array.from({ length: 1000 }, (_, at) => String(1001 + at)));
  expect(new Set(plants.map(([, name]) => name)).size).toBe(1000);

  const data = temporaryFolder();
  const first = await startTestService({ data });
  expect(await importFile(first)).toMatchObject({ read: 1000, created: 1000 });
  await first.stop();

  const second = await startTestService({ data });
  for (const [id, name, tag] of plants) {
    expect(await (await second.request(`/plants/${id}`)).json()).toEqual({ id: Number(id), name, tag });
  }
  // The same file again changes nothing.
  expect(await importFile(second)).toMatchObject({ read: 1000, unchanged: 1000 });
  await second.stop();
});

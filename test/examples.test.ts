import { readFileSync } from "node:fs";
import { expect, it } from "bun:test";
import { asPlantId } from "../src/plant.ts";
import { temporaryFolder } from "./folder.ts";
import { startTestService } from "./service.ts";

const lines = readFileSync(new URL("../examples/plants.ndjson", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const plants = lines.map((line) => JSON.parse(line) as { id: number; name: string; tag: string });

it("creates every plant of examples/plants.ndjson and finds them all after a restart", async () => {
  expect(plants.length).toBeGreaterThanOrEqual(200);
  expect(new Set(plants.map(({ id }) => id)).size).toBe(plants.length);
  expect(new Set(plants.map(({ name }) => name)).size).toBe(plants.length);

  const data = temporaryFolder();
  const first = await startTestService({ data });
  for (const [at, line] of lines.entries()) {
    const { name, tag } = plants[at]!;
    const response = await first.post(line);
    expect(await response.json()).toEqual({ name, tag });
    expect(response.status).toBe(200);
  }
  await first.stop();

  const second = await startTestService({ data });
  for (const { id, name, tag } of plants) {
    expect(await second.store.plants.find(asPlantId(BigInt(id)))).toEqual({ id: asPlantId(BigInt(id)), name, tag });
  }
  // The same file again changes nothing and is answered as the first time.
  const again = await Promise.all(lines.map((line) => second.post(line)));
  expect(again.every(({ status }) => status === 200)).toBe(true);
  await second.stop();
});

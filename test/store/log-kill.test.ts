import { join } from "node:path";
import { afterEach, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import { statesOf } from "../support/history-model.ts";
import { below, openRandom, seedOf } from "../support/random.ts";
import { killServices, startService } from "../support/service-process.ts";
import { openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const KILLS = 3;
const PLANTS = 20;

afterEach(killServices);

it("a kill at any moment leaves each change of a plant with what was there before, or neither", async () => {
  const random = openRandom(seedOf("killed changes"));
  const data = temporaryFolder();
  const answered = Array.from({ length: PLANTS }, (): string[] => []);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const service = await startService({ data });
    let isKilled = false;
    /** Each state is another one, so each request that is made is a change. */
    async function change(id: number): Promise<void> {
      for (let seq = 0; !isKilled; seq += 1) {
        const name = `${kill} ${seq}`;
        const body = JSON.stringify({ id, name });
        const isMade = await service.ask("PUT", `/plants/${id}`, body).then(
          ({ ok }) => ok,
          () => false,
        );
        if (isMade) answered[id]!.push(name);
      }
    }
    const changing = answered.map((_, id) => change(id));
    await Bun.sleep(300 + below(random, 300));
    const ended = service.end("SIGKILL");
    isKilled = true;
    await Promise.all([ended, ...changing]);
  }
  const store = await openSqlite(join(data, "plants.db"));
  for (const [id, names] of answered.entries()) {
    const states = await statesOf(store, asPlantId(BigInt(id)), random);
    const known = states.map((state) => state?.name);
    // A change without its note would be taken for the one before it, whose outcome nothing else tells.
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(new Set(known).size).toBe(known.length);
    expect(names.length).toBeGreaterThan(KILLS);
  }
  await store.close();
});

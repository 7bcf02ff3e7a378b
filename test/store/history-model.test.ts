import { join } from "node:path";
import { expect, it } from "bun:test";
import type { Store } from "../../src/store/store.ts";
import { change, Copy, createModel, expectHistories } from "../support/history-model.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { below, openRandom, pick, seedOf } from "../support/random.ts";
import { openPostgres, openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const ROUNDS = 400;

const ENGINES = [
  { engine: "SQLite", open: () => openSqlite(join(temporaryFolder(), "plants.db")) },
  { engine: "PostgreSQL", open: async () => openPostgres(await (await sharedCluster()).createDatabase()) },
] satisfies readonly { engine: string; open: () => Promise<Store> }[];

it.each(ENGINES)(
  "one who follows $engine from any place and with any tag has a copy that is right or older, and right in the end",
  async ({ engine, open }) => {
    const random = openRandom(seedOf(`history of ${engine}`));
    const store = await open();
    const model = createModel();
    // Some have followed since the store was empty.
    const copies = [undefined, "tree", "", null].map((tag) => new Copy(store, tag));
    for (let round = 0; round < ROUNDS; round += 1) {
      await change(store, model, random);
      if (below(random, 20) === 0) {
        const copy = new Copy(store, pick(random, [undefined, undefined, "tree", "", null]));
        await copy.begin(model);
        copies.push(copy);
      }
      if (below(random, 3) === 0) await pick(random, copies).read(model, random);
    }
    for (const copy of copies)
      await until("The copy is right", async () => {
        // To read something again would hide what was passed over.
        await copy.readOn(model, random);
        return copy.isEqual(model);
      });
    await expectHistories(store, model, { random, isExact: engine === "SQLite" });
    expect(copies.length).toBeGreaterThan(4);
    await store.close();
  },
  120_000,
);

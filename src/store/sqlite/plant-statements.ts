import type { DatabaseSync, StatementSync } from "node:sqlite";
import { asPlantId } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import { openPage } from "../page.ts";
import type { Page } from "../page.ts";
import type { ImportOutcome, ListQuery, Swap } from "../plants.ts";

/** Plants as columns: three arrays reach the Worker three times as fast as an object for each plant. */
export type PlantColumns = Readonly<{ ids: BigInt64Array; names: readonly string[]; tags: ReadonlyArray<string | null> }>;

/** What happened to a plant. The Worker returns, for each plant in order, an index into this list. */
export const OUTCOMES = ["created", "same", "in_use", "replaced"] as const satisfies readonly ImportOutcome[];

type PlantRow = { id: bigint; name: string; tag: string | null };

export function preparePlantReads(db: DatabaseSync) {
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const plant = readPlants("WHERE id = ?");
  const plants = readPlants("WHERE id > ? ORDER BY id LIMIT ?");
  const firstPlants = readPlants("ORDER BY id LIMIT ?");
  const plantsOfTag = readPlants("WHERE tag = ? AND id > ? ORDER BY id LIMIT ?");
  const firstPlantsOfTag = readPlants("WHERE tag = ? ORDER BY id LIMIT ?");

  function readPlants(condition: string): StatementSync {
    const statement = db.prepare(`SELECT id, name, tag FROM plants ${condition}`);
    statement.setReadBigInts(true);
    return statement;
  }

  function findPlant(id: PlantId): NewPlant | undefined {
    const row = plant.get(id) as PlantRow | undefined;
    return row && toPlant(row);
  }

  return {
    /** The plants with these ids, in the same order, from one snapshot. */
    find(ids: readonly PlantId[]): Array<NewPlant | undefined> {
      begin.run();
      try {
        return ids.map(findPlant);
      } finally {
        commit.run();
      }
    },
    /** A page of plants. Ignores `words`. */
    list({ after, tag, limit, bytesMax }: ListQuery): Page {
      const [ofTag, firstOfTag] = tag === undefined ? [plants, firstPlants] : [plantsOfTag, firstPlantsOfTag];
      const wanted = tag === undefined ? [] : [tag];
      const page = openPage({ limit, bytesMax });
      const rows = after === undefined ? firstOfTag.iterate(...wanted, limit + 1) : ofTag.iterate(...wanted, after, limit + 1);
      for (const row of rows as Iterable<PlantRow>) if (!page.add(toPlant(row))) break;
      return page.close();
    },
  };
}

function toPlant({ id, name, tag }: PlantRow): NewPlant {
  return tag === null ? { id: asPlantId(id), name } : { id: asPlantId(id), name, tag };
}

/** Writes plants. Call it inside a transaction of the writer. */
export function preparePlantWrites(db: DatabaseSync) {
  const insert = db.prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
  const same = db.prepare("SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?");
  const replace = db.prepare("UPDATE plants SET name = ?, tag = ? WHERE id = ?");
  const update = db.prepare("UPDATE plants SET name = ?, tag = ? WHERE id = ? AND name = ? AND tag IS ?");
  const remove = db.prepare("DELETE FROM plants WHERE id = ? AND name = ? AND tag IS ?");

  function createOne(id: bigint, name: string, tag: string | null): ImportOutcome {
    if (insert.run(id, name, tag).changes === 1) return "created";
    return same.get(id, name, tag) ? "same" : "in_use";
  }

  function replaceOne(id: bigint, name: string, tag: string | null): ImportOutcome {
    const outcome = createOne(id, name, tag);
    if (outcome !== "in_use") return outcome;
    replace.run(name, tag, id);
    return "replaced";
  }

  return {
    /** Writes plants in order. Adds the ids of those that changed to `changed`. */
    put({ ids, names, tags }: PlantColumns, { isReplacing }: { isReplacing: boolean }, changed: bigint[]): Uint8Array {
      const put = isReplacing ? replaceOne : createOne;
      const outcomes = new Uint8Array(ids.length);
      for (let at = 0; at < ids.length; at += 1) {
        const outcome = put(ids[at]!, names[at]!, tags[at]!);
        outcomes[at] = OUTCOMES.indexOf(outcome);
        if (outcome === "created" || outcome === "replaced") changed.push(ids[at]!);
      }
      return outcomes;
    },
    /** False when the plant is no longer equal to `from`: then nothing changes. */
    compareAndSwap({ from, to }: Swap): boolean {
      if (!from) return to !== undefined && insert.run(to.id, to.name, to.tag ?? null).changes === 1;
      const expected = [from.id, from.name, from.tag ?? null] as const;
      const { changes } = to ? update.run(to.name, to.tag ?? null, ...expected) : remove.run(...expected);
      return changes === 1;
    },
  };
}

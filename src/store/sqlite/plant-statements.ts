import type { DatabaseSync, StatementSync } from "node:sqlite";
import { asPlantId } from "../../domain/plant.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import type { DatedPlant } from "../contents.ts";
import { idBehind, openPage } from "../page.ts";
import type { Page } from "../page.ts";
import { prepareBigInts } from "./engine/requirements.ts";
import { TOTAL } from "./search/changes.ts";
import type { ImportOutcome, ListQuery, Swap } from "../plants.ts";

/** Plants as columns: three arrays reach the Worker three times as fast as an object for each plant. */
export type PlantColumns = Readonly<{ ids: BigInt64Array; names: readonly string[]; tags: ReadonlyArray<string | null> }>;

/** What happened to a plant. The Worker returns, for each plant in order, an index into this list. */
export const OUTCOMES = ["created", "same", "in_use", "replaced"] as const satisfies readonly ImportOutcome[];

type PlantRow = { id: bigint; name: string; tag: string | null };
type DatedRow = PlantRow & { added: bigint | null };

export function preparePlantReads(db: DatabaseSync) {
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const plant = readPlants("WHERE id = ?");
  const plants = {
    ascending: readPlants("WHERE id >= ? ORDER BY id LIMIT ?"),
    descending: readPlants("WHERE id <= ? ORDER BY id DESC LIMIT ?"),
  };
  const plantsOfTag = {
    ascending: readPlants("WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?"),
    descending: readPlants("WHERE tag = ? AND id <= ? ORDER BY id DESC LIMIT ?"),
  };
  const total = db.prepare(`SELECT ${TOTAL} AS plants`);
  const countOfTag = db.prepare("SELECT count(*) AS plants FROM (SELECT 1 FROM plants WHERE tag = ? LIMIT ?)");

  function readPlants(condition: string): StatementSync {
    return prepareBigInts(db, `SELECT id, name, tag FROM plants ${condition}`);
  }

  function findPlant(id: PlantId): NewPlant | undefined {
    const row = plant.get(id) as PlantRow | undefined;
    return row && toPlant(row);
  }

  return {
    count: (): number => Number(total.get()?.["plants"]),
    /** At most `max`. */
    countOfTag: (tag: string, max: number): number => Number(countOfTag.get(tag, max)?.["plants"]),
    /** The plants with these ids, in the same order, from one snapshot. */
    find(ids: readonly PlantId[]): Array<NewPlant | undefined> {
      begin.run();
      try {
        return ids.map(findPlant);
      } finally {
        commit.run();
      }
    },
    /** A page of plants. Ignores `words`, and a tag that is null. */
    list({ tag, limit, bytesMax, ...start }: ListQuery): Page {
      const page = openPage({ limit, bytesMax });
      const from = idBehind(start);
      if (from === undefined) return page.close();
      const direction = start.descending ? "descending" : "ascending";
      const rows =
        typeof tag === "string" ? plantsOfTag[direction].iterate(tag, from, limit + 1) : plants[direction].iterate(from, limit + 1);
      for (const row of rows as Iterable<PlantRow>) if (!page.add(toPlant(row))) break;
      return page.close();
    },
  };
}

function toPlant({ id, name, tag }: PlantRow): NewPlant {
  return tag === null ? { id: asPlantId(id), name } : { id: asPlantId(id), name, tag };
}

/** All plants with the times of their creates, by id, as they are read. */
export function* readDatedPlants(db: DatabaseSync): Generator<DatedPlant, void, void> {
  const statement = prepareBigInts(db, "SELECT id, name, tag, added FROM plants ORDER BY id");
  for (const row of statement.iterate() as Iterable<DatedRow>)
    yield row.added === null ? toPlant(row) : { ...toPlant(row), added: row.added };
}

/** Writes plants into an empty table. Throws if an id is there already. */
export function prepareDatedPuts(db: DatabaseSync): (plant: DatedPlant) => void {
  const insert = db.prepare("INSERT INTO plants (id, name, tag, added) VALUES (?, ?, ?, ?)");
  return ({ id, name, tag, added }) => void insert.run(id, name, tag ?? null, added ?? null);
}

/** Writes plants. Call it inside a transaction of the writer. */
export function preparePlantWrites(db: DatabaseSync) {
  const insert = db.prepare("INSERT INTO plants (id, name, tag, added) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING");
  const same = db.prepare("SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?");
  const replace = db.prepare("UPDATE plants SET name = ?, tag = ? WHERE id = ?");
  const update = db.prepare("UPDATE plants SET name = ?, tag = ? WHERE id = ? AND name = ? AND tag IS ?");
  const remove = db.prepare("DELETE FROM plants WHERE id = ? AND name = ? AND tag IS ?");
  let added = 0;

  function createOne(id: bigint, name: string, tag: string | null): ImportOutcome {
    if (insert.run(id, name, tag, added).changes === 1) return "created";
    return same.get(id, name, tag) ? "same" : "in_use";
  }

  function replaceOne(id: bigint, name: string, tag: string | null): ImportOutcome {
    const outcome = createOne(id, name, tag);
    if (outcome !== "in_use") return outcome;
    replace.run(name, tag, id);
    return "replaced";
  }

  return {
    /** Plants are created at this time from now on, in milliseconds, but after all those before, even if the clock goes back. */
    setTime(now: number): void {
      added = Math.max(added + 1, now * 1000);
    },
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
      if (!from) return to !== undefined && insert.run(to.id, to.name, to.tag ?? null, added).changes === 1;
      const expected = [from.id, from.name, from.tag ?? null] as const;
      const { changes } = to ? update.run(to.name, to.tag ?? null, ...expected) : remove.run(...expected);
      return changes === 1;
    },
  };
}

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { asPlantId, isSame, PLANT_ID_MAX, PLANT_ID_MIN } from "../../domain/plant.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import type { Owner } from "../../runtime/fair-shares.ts";
import { COMMIT_CHARACTERS } from "../commit-size.ts";
import type { DatedPlant } from "../contents.ts";
import { idBehind, openPage } from "../page.ts";
import { prepareBigInts } from "./engine/requirements.ts";
import { fromWriters } from "./log-row.ts";
import type { Change, PlantRow as StoredRow } from "./log-row.ts";
import { TOTAL } from "./search/changes.ts";
import type { ImportOptions, ImportOutcome, ListQuery, SnapshotPage, Swap } from "../plants.ts";

/** Plants as columns: three arrays reach the Worker three times as fast as an object for each plant. `by`: who sent them (`toWriters`). */
export type PlantColumns = Readonly<{ ids: BigInt64Array; names: readonly string[]; tags: ReadonlyArray<string | null>; by?: string }>;

/** What happened to a plant. The Worker returns, for each plant in order, an index into this list. */
export const OUTCOMES = ["created", "same", "in_use", "replaced"] as const satisfies readonly ImportOutcome[];

type PlantRow = { id: bigint; name: string; tag: string | null };
type DatedRow = PlantRow & { added: bigint | null };

/** How many plants a snapshot looks at for a page of a tag. A tag lies behind the name, and that may be long: 40 ms at most. */
const STEP_PLANTS = 1000;

export function preparePlantReads(db: DatabaseSync) {
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const plant = readPlants(db, "WHERE id = ?");
  const plants = {
    ascending: readPlants(db, "WHERE id >= ? ORDER BY id LIMIT ?"),
    descending: readPlants(db, "WHERE id <= ? ORDER BY id DESC LIMIT ?"),
  };
  const listOfTag = prepareTagScan(db);
  const total = db.prepare(`SELECT ${TOTAL} AS plants`);

  function findPlant(id: PlantId): NewPlant | undefined {
    const row = plant.get(id) as PlantRow | undefined;
    return row && toPlant(row);
  }

  return {
    count: (): number => Number(total.get()?.["plants"]),
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
    list(query: ListQuery): SnapshotPage {
      const { tag, limit, bytesMax, ...start } = query;
      if (typeof tag === "string") return listOfTag(tag, query);
      const page = openPage({ limit, bytesMax });
      const from = idBehind(start);
      if (from === undefined) return page.close();
      const rows = plants[start.descending ? "descending" : "ascending"].iterate(from, limit + 1);
      for (const row of rows as Iterable<PlantRow>) if (!page.add(toPlant(row))) break;
      return page.close();
    },
  };
}

export function readPlants(db: DatabaseSync, condition: string): StatementSync {
  return prepareBigInts(db, `SELECT id, name, tag FROM plants ${condition}`);
}

/** Lists plants of a tag. No index has the tags of this very moment, so it looks at so many plants in turn. */
function prepareTagScan(db: DatabaseSync): (tag: string, query: ListQuery) => SnapshotPage {
  const plantsOfTag = {
    ascending: readPlants(db, "WHERE id >= ? AND id <= ? AND tag = ? ORDER BY id LIMIT ?"),
    descending: readPlants(db, "WHERE id <= ? AND id >= ? AND tag = ? ORDER BY id DESC LIMIT ?"),
  };
  const lastOfStep = {
    ascending: prepareBigInts(db, `SELECT id FROM plants WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ${STEP_PLANTS - 1}`),
    descending: prepareBigInts(db, `SELECT id FROM plants WHERE id <= ? ORDER BY id DESC LIMIT 1 OFFSET ${STEP_PLANTS - 1}`),
  };
  return (tag, { limit, bytesMax, ...start }) => {
    const page = openPage({ limit, bytesMax });
    const from = idBehind(start);
    if (from === undefined) return page.close();
    const [direction, end] = start.descending ? (["descending", PLANT_ID_MIN] as const) : (["ascending", PLANT_ID_MAX] as const);
    const last = lastOfStep[direction].get(from)?.["id"] as bigint | undefined;
    const rows = plantsOfTag[direction].iterate(from, last ?? end, tag, limit + 1);
    for (const row of rows as Iterable<PlantRow>) if (!page.add(toPlant(row))) return page.close();
    if (last === undefined) return page.close();
    page.cut();
    return { ...page.close(), reached: asPlantId(last) };
  };
}

export function toPlant({ id, name, tag }: PlantRow): NewPlant {
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

type PutOptions = Pick<ImportOptions, "isReplacing" | "isDryRun">;

const STORED = "id, name, tag, added";

/** Writes plants. Call it inside a transaction of the writer. What was there before is read before it is written over. */
export function preparePlantWrites(db: DatabaseSync) {
  const insert = db.prepare("INSERT INTO plants (id, name, tag, added) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING");
  const same = db.prepare("SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?");
  const stored = prepareBigInts(db, `SELECT ${STORED} FROM plants WHERE id = ?`);
  const storedSame = prepareBigInts(db, `SELECT ${STORED} FROM plants WHERE id = ? AND name = ? AND tag IS ?`);
  const replace = db.prepare("UPDATE plants SET name = ?, tag = ? WHERE id = ?");
  const remove = db.prepare("DELETE FROM plants WHERE id = ?");
  let added = 0;

  function createOne(id: bigint, name: string, tag: string | null): ImportOutcome {
    if (insert.run(id, name, tag, added).changes === 1) return "created";
    return same.get(id, name, tag) ? "same" : "in_use";
  }

  return {
    /** Plants are created at this time from now on, in microseconds, but after all those before, even if the clock goes back. */
    setTime(now: number): void {
      added = Math.max(added + 1, now);
    },
    /**
     * Writes plants in order. Adds those that changed to `changed`. Returns an outcome each; of fewer, if what was there before
     * has so many characters that another commit must write the rest. A dry run does not need to know what was there.
     */
    put({ ids, names, tags, by = "" }: PlantColumns, { isReplacing, isDryRun }: PutOptions, changed: Change[]): Uint8Array {
      const byAt = fromWriters(by);
      const outcomes = new Uint8Array(ids.length);
      let replaced = 0;
      for (let at = 0; at < ids.length; at += 1) {
        if (replaced > COMMIT_CHARACTERS) return outcomes.subarray(0, at);
        const [id, name, tag] = [ids[at]!, names[at]!, tags[at]!];
        let outcome = createOne(id, name, tag);
        if (outcome === "created") changed.push({ id, kind: "created", by: byAt(at) });
        if (outcome === "in_use" && isReplacing) {
          if (!isDryRun) {
            const before = stored.get(id) as StoredRow;
            replaced += before.name.length + (before.tag?.length ?? 0);
            changed.push({ id, kind: "replaced", by: byAt(at), before });
          }
          replace.run(name, tag, id);
          outcome = "replaced";
        }
        outcomes[at] = OUTCOMES.indexOf(outcome);
      }
      return outcomes;
    },
    /** Adds the change to `changed`, if it is one. False when the plant is no longer equal to `from`: then nothing changes. */
    compareAndSwap({ from, to }: Swap, by: Owner, changed: Change[]): boolean {
      if (!from) {
        const isNew = to !== undefined && insert.run(to.id, to.name, to.tag ?? null, added).changes === 1;
        if (isNew) changed.push({ id: to.id, kind: "created", by });
        return isNew;
      }
      const before = storedSame.get(from.id, from.name, from.tag ?? null) as StoredRow | undefined;
      if (!before) return false;
      if (isSame(from, to)) return true;
      changed.push({ id: from.id, kind: to ? "replaced" : "deleted", by, before });
      void (to ? replace.run(to.name, to.tag ?? null, to.id) : remove.run(from.id));
      return true;
    },
  };
}

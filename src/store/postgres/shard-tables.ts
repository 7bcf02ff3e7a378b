import type { PlantId } from "../../domain/plant.ts";
import { isMisplaced } from "./engine/failure.ts";
import type { Statement } from "./engine/pool.ts";
import type { ShardMap, ShardTable } from "./engine/shards.ts";
import { columnsOf, rowsOf, searchableColumnsOf } from "./plant-columns.ts";
import { CONFIRM_PLANTS, DELETE_PLANTS, FIND_PLANTS, INSERT_PLANTS, insertRows, UPDATE_PLANTS } from "./plant-statements.ts";
import { changeOrRefuse, updateColumnsOf } from "./plant-tables.ts";
import type { ChangedIds, OpenTables } from "./plant-tables.ts";
import { changeInShards, findInShards, guardShards } from "./shard-statements.ts";

type ShardsOptions = Readonly<{
  worker: string;
  /** Where the shards are now, as far as is known. */
  shards: () => ShardMap | undefined;
}>;

/**
 * A statement takes some eight locks a table, for it and its indexes, out of a table that the whole server shares and
 * that has 64 a connection (max_locks_per_transaction). So a worker with more shards than this runs statements on those
 * alone that have the plants.
 */
const TABLES_MAX = 32;

type Identified = Readonly<{ id: PlantId }>;

/**
 * The tables of the shards of a worker of Citus. One statement goes past Citus to all that have some of the plants: Citus
 * would plan it again for each. When that cannot be, as after a move that we do not know of yet, Citus is asked. Rejects
 * with what `isMisplaced` when the worker does not have plants any more.
 */
export function openShardTables({ worker, shards }: ShardsOptions): OpenTables {
  const prepare = createStatements();

  /** The statement with its values, behind the guard of the shards of `guarded`. Undefined when it must go through Citus. */
  async function bind<Plant extends Identified>(
    statement: Statement,
    plants: readonly Plant[],
    toColumns: (plants: readonly Plant[]) => Promise<string[]>,
    guarded: readonly Identified[] = plants,
  ): Promise<[Statement, string[]] | undefined> {
    const map = shards();
    if (!map || !(map.isOurs || statement === FIND_PLANTS) || guarded.some(({ id }) => map.workerOf(id) !== worker)) return undefined;
    const all = map.tablesOf(worker);
    const plantsAt = Map.groupBy(plants, ({ id }) => map.placeOf(id));
    const isOfSome = plantsAt.size === 1 || all.length > TABLES_MAX;
    // In the order of the tables, whatever that of the plants: a statement on all tables is used again.
    const places = [...all.keys()].filter((place) => !isOfSome || plantsAt.has(place));
    const tables = places.map((place) => all[place]!);
    const prepared = prepare(map, statement, tables, all);
    const columns = (await Promise.all(places.map((place) => toColumns(plantsAt.get(place) ?? [])))).flat();
    if (statement === FIND_PLANTS) return [prepared, columns];
    const used = [...new Set(guarded.map(({ id }) => map.placeOf(id)))].map((place) => all[place]!);
    return [{ ...prepared, guard: guardShards(used) }, columns];
  }

  return (execute, options) => {
    const how = { ...options, isExpected: isMisplaced };
    async function run<Row extends unknown[], Plant extends Identified>(...what: Parameters<typeof bind<Plant>>) {
      const bound = await bind(...what);
      const rows = bound && (await execute<Row>(...bound, how).catch(undefinedIfMisplaced));
      return rows?.some(([id]) => id === null) ? undefined : rows;
    }

    const citus = askCitus(execute, how);
    return {
      find: async (ids) => (await run(FIND_PLANTS, ids.map(toIdentified), idsOf)) ?? citus.find(ids),
      insert: async (plants, origin) => (await run(INSERT_PLANTS, plants, searchableColumnsOf)) ?? citus.insert(plants, origin),
      update: async (updates, origin) => (await run(UPDATE_PLANTS, updates, updateColumnsOf)) ?? citus.update(updates, origin),
      remove: async (plants, origin) => (await run(DELETE_PLANTS, plants, columnsOf)) ?? citus.remove(plants, origin),
      async confirm(plants) {
        // They were found without a lock: a shard that is not here any more may have moved before, and others changed them.
        const rows = await run(CONFIRM_PLANTS, plants.slice(0, 1), columnsOf, plants);
        return rows ? rows.length === 1 : citus.confirm(plants);
      },
    };
  };
}

/** Makes statements on some of all tables. Those on one or all are named and remembered: of the others there are too many. */
function createStatements() {
  let made: Readonly<{ map: ShardMap; statements: Map<string, Statement> }> | undefined;
  return (map: ShardMap, statement: Statement, tables: readonly ShardTable[], all: readonly ShardTable[]): Statement => {
    const make = () => (statement === FIND_PLANTS ? findInShards(tables) : changeInShards(statement, tables));
    if (tables.length !== 1 && tables.length !== all.length) return { text: make().text };
    if (made?.map !== map) made = { map, statements: new Map() };
    const key = `${statement.name} ${tables.length === 1 ? tables[0]!.name : "all"}`;
    const ofTables = made.statements.get(key) ?? make();
    made.statements.set(key, ofTables);
    return ofTables;
  };
}

function undefinedIfMisplaced(thrown: unknown): undefined {
  if (!isMisplaced(thrown)) throw thrown;
}

/**
 * Citus, on a worker, runs what concerns its own shards itself, shard after shard in one commit, and passes on the rest.
 * Rows must be listed: those of arrays it would write to a file first, and read for every shard. Anything else it runs
 * itself only in a block: otherwise on connections to itself, with two-phase commit.
 */
const askCitus: OpenTables = (execute, how) => {
  const inBlock = (statement: Statement, plants: readonly unknown[]): Statement =>
    plants.length === 1 ? statement : { ...statement, guard: [] };
  return {
    find: (ids) => execute(inBlock(FIND_PLANTS, ids), [ids], how),
    insert: async (plants) => execute(insertRows(plants.length), await rowsOf(plants), how),
    update: (updates) => askAgain(updates, async (some) => execute(inBlock(UPDATE_PLANTS, some), await updateColumnsOf(some), how)),
    remove: (plants) => askAgain(plants, async (some) => execute(inBlock(DELETE_PLANTS, some), await columnsOf(some), how)),
    confirm: async (plants) => (await execute(inBlock(CONFIRM_PLANTS, plants), await columnsOf(plants), how)).length === plants.length,
  };
};

/**
 * Asks again for what was not changed, plant by plant. A change of several shards Citus plans before it waits for a shard
 * that moves, and then makes it where the shard was; of one plant it looks behind its lock where that is.
 */
async function askAgain<Plant extends Identified>(
  plants: readonly Plant[],
  change: (some: readonly Plant[]) => Promise<ChangedIds>,
): Promise<ChangedIds> {
  const rows = await change(plants);
  if (plants.length === 1) return rows;
  const changed = new Set(rows.map(([id]) => id as PlantId));
  const more: ChangedIds[] = [];
  for (const plant of plants) if (!changed.has(plant.id)) more.push(await changeOrRefuse([plant], change, refuseLater));
  return [rows, ...more].flat();
}

/** Others are changed by now, so a refusal must not have all tried again. Who asks for this plant alone gets it. */
function refuseLater(): void {}

function toIdentified(id: PlantId): Identified {
  return { id };
}

async function idsOf(plants: readonly Identified[]): Promise<string[]> {
  return [`{${plants.map(({ id }) => id).join()}}`];
}

import type { PlantId } from "../../../domain/plant.ts";
import type { Statement } from "./pool.ts";
import type { Execute } from "./retry.ts";

/** The table that holds the plants of a shard, on the worker that has it. */
export type ShardTable = Readonly<{ shard: bigint; name: string }>;

export type ShardMap = ReturnType<typeof toMap>;

const HOW = { isRepeatable: true };

/** Whether the server has Citus. */
const HAS_CITUS: Statement = { text: `SELECT to_regclass('pg_dist_shard') IS NOT NULL` };

const IS_DISTRIBUTED: Statement = { text: `SELECT count(*) > 0 FROM pg_dist_partition WHERE logicalrelid = 'store.plants'::regclass` };

/** The shards of plants by their lowest hash. Without rows, the table is not distributed. */
const READ_SHARDS: Statement = {
  text: `SELECT shardminvalue::bigint, nodename, nodeport::bigint, shardid::bigint, format('%I.%I', nspname, relname || '_' || shardid),
      pg_has_role(relowner, 'USAGE')
    FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
      JOIN pg_class ON pg_class.oid = logicalrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE logicalrelid = 'store.plants'::regclass AND noderole = 'primary' ORDER BY 1`,
};

/** The shards on the node that runs this. Nodes ask each other with the search path of the user: so every name is qualified. */
export const SHARDS_HERE = `SELECT pg_dist_shard.shardid, pg_catalog.to_regclass(pg_catalog.concat('store.plants_', pg_dist_shard.shardid))::pg_catalog.oid AS id
  FROM pg_catalog.pg_dist_shard
    JOIN pg_catalog.pg_dist_placement ON pg_dist_placement.shardid OPERATOR(pg_catalog.=) pg_dist_shard.shardid
    JOIN pg_catalog.pg_dist_local_group ON pg_dist_local_group.groupid OPERATOR(pg_catalog.=) pg_dist_placement.groupid
  WHERE logicalrelid OPERATOR(pg_catalog.=) 'store.plants'::pg_catalog.regclass`;

/** The hash that Citus distributes by is that of PostgreSQL's own hash indexes. */
const HASH_IDS: Statement = { text: `SELECT worker_hash(id) FROM unnest($1::bigint[]) WITH ORDINALITY AS v (id, at) ORDER BY at` };

const SAMPLE = [0n, 1n, -1n, 42n, 2n ** 31n, 2n ** 32n, -(2n ** 32n), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)] as PlantId[];

/** Writes nothing, and waits for the standby like any commit. It changes no table: workers have none of the service. */
export const PROBE_WORKER: Statement = { text: `SELECT pg_logical_emit_message(true, 'plant-store', '')` };

/** Whether Citus has the plants on other nodes too, also where `readShards` cannot tell on which. */
export async function areDistributed(execute: Execute): Promise<boolean> {
  return (await answersTrue(execute, HAS_CITUS)) && (await answersTrue(execute, IS_DISTRIBUTED));
}

async function answersTrue(execute: Execute, statement: Statement): Promise<boolean> {
  const [row] = await execute<[answer: string]>(statement, [], HOW);
  return row![0] === "t";
}

/**
 * Undefined when the server has no Citus, plants are not distributed, or their shards cannot be told from their ids.
 * Then any statement goes to the server itself, which is slower on Citus and right everywhere.
 */
export async function readShards(execute: Execute): Promise<ShardMap | undefined> {
  if (!(await answersTrue(execute, HAS_CITUS))) return undefined;
  const rows = await execute<ShardRow>(READ_SHARDS, [], HOW);
  // The name that a coordinator has until it is given one. To the service it means another machine.
  if (rows.some(([, host]) => host === "localhost")) return undefined;
  const lowest = rows.map(([hash]) => (hash === null ? Number.NaN : Number(hash)));
  // The table is one shard without a hash, or shards have copies, which Citus alone keeps alike.
  if (lowest.length === 0 || lowest.some((hash, at) => Number.isNaN(hash) || hash === lowest[at - 1])) return undefined;
  const hashes = await execute<[hash: string]>(HASH_IDS, [SAMPLE], HOW);
  if (hashes.some(([hash], at) => Number(hash) !== hashOf(SAMPLE[at]!))) return undefined;
  return toMap(lowest, rows);
}

type ShardRow = [lowest: bigint | null, host: string, port: bigint, shard: bigint, table: string, isOurs: string];

/** Where Citus keeps plants: by the hash of their ids in shards, each on one worker. */
function toMap(lowest: readonly number[], rows: readonly ShardRow[]) {
  const workers = rows.map(([, host, port]) => `${host.includes(":") ? `[${host}]` : host}:${port}`);
  /** The last shard that begins at or below the hash: as many steps as the number of shards has bits. */
  function shardOf(id: PlantId): number {
    const hash = hashOf(id);
    let low = 0;
    let high = lowest.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (lowest[middle]! <= hash) low = middle;
      else high = middle;
    }
    return low;
  }
  const shardsOf = Map.groupBy(workers.keys(), (shard) => workers[shard]!);
  const places = workers.map((worker, shard) => shardsOf.get(worker)!.indexOf(shard));
  const tables = rows.map(([, , , shard, name]): ShardTable => ({ shard, name }));
  const tablesOf = new Map(Array.from(shardsOf, ([worker, shards]) => [worker, shards.map((shard) => tables[shard]!)]));
  return {
    /** The workers that have shards, as `host:port`. */
    workers: [...shardsOf.keys()] as readonly string[],
    workerOf: (id: PlantId) => workers[shardOf(id)]!,
    /** The shard of a plant, counted from 0 among those of its worker. */
    placeOf: (id: PlantId) => places[shardOf(id)]!,
    /** The shards of a worker, in the order of their places. */
    tablesOf: (worker: string): readonly ShardTable[] => tablesOf.get(worker) ?? [],
    /** Two maps with the same mark are alike. */
    mark: rows.join(),
    /** Whether we own them, and so may lock them. */
    isOurs: rows.every(([, , , , , isOurs]) => isOurs === "t"),
  };
}

/**
 * PostgreSQL's `hashint8` (src/backend/access/hash/hashfunc.c): both halves of the number, so that a small one has the
 * hash of an `integer`, through the end of Bob Jenkins' hash (src/common/hashfn.c, `hash_bytes_uint32`).
 */
export function hashOf(id: PlantId): number {
  const high = Number(BigInt.asIntN(32, id >> 32n));
  const start = (0x9e_37_79_b9 + 4 + 3_923_095) | 0;
  let a = (start + (Number(BigInt.asIntN(32, id)) ^ (id >= 0n ? high : ~high))) | 0;
  let b = start;
  let c = start;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

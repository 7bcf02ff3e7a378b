import type { Database, Statement } from "./engine/pool.ts";
import { runUnlimited } from "./engine/startup.ts";

/*
 * On Citus the table of plants on the coordinator has no rows, and its indexes no entries: those of the shards count. Each
 * node is asked for its own shards.
 */

const SHARDS = `SELECT to_regclass(shard_name(logicalrelid, shardid)) AS id FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)
  JOIN pg_dist_local_group USING (groupid) WHERE logicalrelid = 'plants'::regclass`;

/** The indexes of a node's shards that are not valid, and its shards that have fewer indexes than the table of plants. */
const LIST_INVALID = `SELECT coalesce(string_agg(indexrelid::regclass::text, ' '), '') FROM pg_index
  WHERE NOT (indisvalid AND indisready) AND indrelid IN (${SHARDS})`;
const LIST_SHORT = `SELECT coalesce(string_agg(id::text, ' '), '') FROM (${SHARDS}) AS shard
  WHERE (SELECT count(*) FROM pg_index WHERE indrelid = id) < (SELECT count(*) FROM pg_index WHERE indrelid = 'plants'::regclass)`;

/** Fails when an index of a node's shards is not as its table. */
const COMPARE = `SELECT count(bt_index_check(indexrelid, true)) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    JOIN pg_am ON pg_am.oid = relam
  WHERE amname = 'btree' AND indisvalid AND indrelid IN (${SHARDS})`;

/** Passes by indexes that are not valid. */
const REBUILD_ALL = { text: `SELECT success::text, result FROM run_command_on_shards('plants', 'REINDEX TABLE CONCURRENTLY %s')` };
/** Only one node has it. */
const REBUILD = (index: string) => ({
  text: `SELECT bool_or(success)::text, max(result) FROM run_command_on_all_nodes('REINDEX INDEX CONCURRENTLY ${index}')`,
});

/** Returns each node with whether the command succeeded, and its result or its error. */
function onNodes(command: string): Statement {
  return {
    text: `SELECT nodename || ':' || nodeport, success::text, result
      FROM run_command_on_all_nodes('${command.replaceAll("'", "''")}') JOIN pg_dist_node USING (nodeid)`,
  };
}

type NodeRow = [node: string, isDone: string, result: string | null];
type RebuildRow = [isDone: string, result: string | null];

/**
 * What is wrong with indexes of the shards of plants. With `isComparing` those of a B-tree are compared with their tables,
 * which needs amcheck and takes time.
 */
export async function findShardFaults(database: Database, { isComparing }: Readonly<{ isComparing: boolean }>): Promise<readonly string[]> {
  async function ask(command: string, toFaults: (names: readonly string[]) => readonly string[]): Promise<readonly string[]> {
    const rows = await runUnlimited<NodeRow>(database, onNodes(command));
    return rows.flatMap(([node, isDone, result]) =>
      isDone === "true" ? toFaults(namesIn(result)) : [`on ${node}: ${result ?? "no answer"}`],
    );
  }
  const faults = [
    ...(await ask(LIST_INVALID, (names) => names.map((name) => `${name} is not valid`))),
    ...(await ask(LIST_SHORT, (names) =>
      names.map((name) => `${name} has fewer indexes than plants: move it to another worker, which makes them`),
    )),
    ...(isComparing ? await ask(COMPARE, () => []) : []),
  ];
  // A node that is away says so each time.
  return [...new Set(faults)];
}

/** Rebuilds the indexes of all shards, beside reads and writes. Throws if one cannot be rebuilt. */
export async function rebuildShardIndexes(database: Database): Promise<void> {
  const nodes = await runUnlimited<NodeRow>(database, onNodes(LIST_INVALID));
  const invalid = nodes.flatMap(([, isDone, names]) => (isDone === "true" ? namesIn(names) : []));
  for (const statement of [REBUILD_ALL, ...invalid.map(REBUILD)]) {
    const rows = await runUnlimited<RebuildRow>(database, statement);
    const [, result] = rows.find(([isDone]) => isDone !== "true") ?? [];
    if (result !== undefined) throw new Error(`The indexes of a shard cannot be rebuilt: ${result ?? "no answer"}`);
  }
}

function namesIn(text: string | null): string[] {
  return text === null || text === "" ? [] : text.split(" ");
}

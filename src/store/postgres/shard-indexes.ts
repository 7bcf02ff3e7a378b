import { look, someOf } from "../check.ts";
import type { Look } from "../check.ts";
import type { Database, Statement } from "./engine/pool.ts";
import { runUnlimited } from "./engine/startup.ts";
import { LEFTOVER } from "./index-check.ts";

/*
 * On Citus the table of plants on the coordinator has no rows, and its indexes no entries: those of the shards count. Each
 * node is asked for its own shards. What is wrong is not mended from here: a REINDEX that Citus passes on may wait for the
 * statement that passes it on.
 */

const SHARDS = `SELECT shardid, shard_name(logicalrelid, shardid) AS name, to_regclass(shard_name(logicalrelid, shardid)) AS id
  FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_local_group USING (groupid) WHERE logicalrelid = 'plants'::regclass`;

/** What is wrong with a node's shards and their indexes: a word and a name for each. */
const LIST_FAULTS = `WITH shard AS (${SHARDS}), fault AS (
    SELECT 'gone ' || name AS text FROM shard WHERE id IS NULL
    UNION ALL
    SELECT 'invalid ' || indexrelid::regclass FROM pg_index JOIN shard ON indrelid = id WHERE NOT (indisvalid AND indisready)
    UNION ALL
    SELECT 'missing ' || relname || '_' || shardid FROM shard, pg_index JOIN pg_class ON oid = indexrelid
      WHERE indrelid = 'plants'::regclass AND id IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_index AS own WHERE own.indrelid = id AND own.indexrelid = to_regclass(relname || '_' || shardid))
  ) SELECT coalesce(string_agg(text, ',' ORDER BY text), '') FROM fault`;

/** Fails when an index of a node's shards is not as its table. */
const COMPARE = `SELECT count(bt_index_check(indexrelid, true)) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    JOIN pg_am ON pg_am.oid = relam
  WHERE amname = 'btree' AND indisvalid AND indrelid IN (SELECT id FROM (${SHARDS}) AS shard)`;

/** Returns each node with whether the command succeeded, and its result or its error. */
function onNodes(command: string): Statement {
  return {
    text: `SELECT nodename || ':' || nodeport, success::text, result
      FROM run_command_on_all_nodes('${command.replaceAll("'", "''")}') JOIN pg_dist_node USING (nodeid)`,
  };
}

type NodeRow = [node: string, isDone: string, result: string | null];

/** Looks at the indexes of all shards of plants. With `isComparing` at each entry of a B-tree, which needs amcheck. */
export async function* lookAtShards(
  database: Database,
  { isComparing }: Readonly<{ isComparing: boolean }>,
): AsyncGenerator<Look, void, void> {
  const faults: Record<"note" | "wrong" | "damaged", string[]> = { note: [], wrong: [], damaged: [] };
  for (const [node, isDone, result] of await runUnlimited<NodeRow>(database, onNodes(LIST_FAULTS))) {
    if (isDone !== "true") faults.note.push(`${node} cannot be asked (${result ?? "no answer"})`);
    else
      for (const fault of (result ?? "").split(",").filter(Boolean)) {
        const [kind, name = ""] = fault.split(" ");
        if (kind === "gone") faults.damaged.push(`${name} is not on ${node}`);
        else faults.wrong.push(kind === "invalid" ? ofInvalid(name, node) : ofMissing(name, node));
      }
  }
  const compared = isComparing && faults.note.length === 0 ? await runUnlimited<NodeRow>(database, onNodes(COMPARE)) : [];
  for (const [node, isDone, result] of compared)
    if (isDone !== "true") faults.wrong.push(`on ${node}: ${result ?? "no answer"}: run REINDEX INDEX CONCURRENTLY with it there`);
  for (const state of ["note", "wrong", "damaged"] as const)
    if (faults[state].length > 0) yield look("shards", state, someOf(faults[state]));
  if (Object.values(faults).every((texts) => texts.length === 0))
    yield look("shards", "ok", `each has its indexes${isComparing ? ", compared with their tables" : ""}`);
}

function ofInvalid(name: string, node: string): string {
  const statement = LEFTOVER.test(name) ? "DROP" : "REINDEX";
  return `${name} is not valid: run ${statement} INDEX CONCURRENTLY ${name} on ${node}`;
}

function ofMissing(name: string, node: string): string {
  return `${name} is missing on ${node}: move its shard to another worker, which makes its indexes`;
}

import { look, someOf } from "../check.ts";
import type { Look } from "../check.ts";
import type { Database, Statement } from "./engine/pool.ts";
import { runUnlimited } from "./engine/startup.ts";
import { FIND_AMCHECK } from "./check-statements.ts";
import { SHARDS_HERE } from "./engine/shards.ts";
import { LEFTOVER } from "./table-check.ts";

/*
 * On Citus the table of plants on the coordinator has no rows, and its indexes no entries: those of the shards count. Each
 * node is asked for its own shards. What is wrong is not mended from here: a REINDEX that Citus passes on may wait for the
 * statement that passes it on.
 */

/** What is wrong with a node's shards and their indexes: a word and a name for each. */
const LIST_FAULTS = `WITH shard AS (${SHARDS_HERE}), fault AS (
    SELECT pg_catalog.concat('gone plants_', shardid) AS text FROM shard WHERE id IS NULL
    UNION ALL
    SELECT pg_catalog.concat('invalid ', indexrelid::pg_catalog.regclass) FROM pg_catalog.pg_index
      JOIN shard ON indrelid OPERATOR(pg_catalog.=) id WHERE NOT (indisvalid AND indisready)
    UNION ALL
    SELECT pg_catalog.concat('missing ', relname, '_', shardid) FROM shard, pg_catalog.pg_index
      JOIN pg_catalog.pg_class ON oid OPERATOR(pg_catalog.=) indexrelid
      WHERE indrelid OPERATOR(pg_catalog.=) 'store.plants'::pg_catalog.regclass AND id IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_index AS own WHERE own.indrelid OPERATOR(pg_catalog.=) id
          AND own.indexrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(pg_catalog.concat('store.', relname, '_', shardid)))
  ) SELECT coalesce(pg_catalog.string_agg(text, ',' ORDER BY text), '') FROM fault`;

/** Fails when an index of a node's shards is not as its table. */
function compareIn(amcheck: string): string {
  return `SELECT pg_catalog.count(${amcheck}.bt_index_check(indexrelid::pg_catalog.regclass, true)) FROM pg_catalog.pg_index
    JOIN pg_catalog.pg_class ON pg_class.oid OPERATOR(pg_catalog.=) indexrelid
    JOIN pg_catalog.pg_am ON pg_am.oid OPERATOR(pg_catalog.=) relam
    JOIN (${SHARDS_HERE}) AS shard ON indrelid OPERATOR(pg_catalog.=) shard.id
  WHERE amname OPERATOR(pg_catalog.=) 'btree' AND indisvalid`;
}

/** Returns each node with whether the command succeeded, and its result or its error. */
function onNodes(command: string): Statement {
  return {
    text: `SELECT pg_catalog.concat(nodename, ':', nodeport), success::pg_catalog.text, result
      FROM pg_catalog.run_command_on_all_nodes('${command.replaceAll("'", "''")}') AS answer
        JOIN pg_catalog.pg_dist_node ON answer.nodeid OPERATOR(pg_catalog.=) pg_dist_node.nodeid`,
  };
}

type NodeRow = [node: string, isDone: string, result: string | null];

/** Looks at the indexes of all shards of plants. With the schema of amcheck at each entry of a B-tree. */
export async function* lookAtShards(
  database: Database,
  { amcheck }: Readonly<{ amcheck: string | undefined }>,
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
  // A node without it may have a function of someone else in its place.
  const found = amcheck === undefined ? [] : await runUnlimited<NodeRow>(database, onNodes(FIND_AMCHECK.text));
  const isComparing = amcheck !== undefined && faults.note.length === 0 && found.every(([, , schema]) => schema === amcheck);
  const compared = isComparing ? await runUnlimited<NodeRow>(database, onNodes(compareIn(amcheck))) : [];
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

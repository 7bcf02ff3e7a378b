import type { Statement } from "./engine/pool.ts";
import { joinPlant } from "./plant-columns.ts";
import { deleteText, INSERT_PLANTS, updateText } from "./plant-statements.ts";

/*
 * The statements of the log of changes, which only PostgreSQL itself keeps: it needs the numbers of transactions and the
 * locks that they hold. A row of the log is what one statement changed, in arrays: a row for each plant would cost the
 * server 0.07 of a create more.
 */

/** The clock of the server, in microseconds since 1970. */
const NOW = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`;

const COLUMNS = "(xid, at, kind, changed, ids, names, tags, writers, import)";

/** One writer stands for all. */
const writersOf = (parameter: string) =>
  `CASE WHEN cardinality(${parameter}::text[]) = 1 THEN ${parameter}::text[] ELSE array_agg(writer) END`;

type Parts = Readonly<Record<"change" | "from" | "kind" | "before" | "writers" | "import", string>>;

/**
 * Takes who made each change, or one for all, and the import. The time is taken behind the change: of two changes of a
 * plant, the one that waited for the other has the later time, whatever the numbers of their transactions.
 */
function logged({ change, from, kind, before, writers, import: id }: Parts): string {
  return `WITH made AS (${change}),
      logged AS (INSERT INTO store.plant_changes ${COLUMNS}
        SELECT pg_current_xact_id(), ${NOW}, '${kind}', count(*), array_agg(made.id), ${before}, ${writers}, ${id}::text
        FROM ${from} HAVING count(*) > 0)
      SELECT id FROM made`;
}

const CREATED = { change: INSERT_PLANTS.text, kind: "created", before: "NULL, NULL", import: "$7" };

/** What creates, replaces and deletes plants, with its row of the log. */
export const INSERT_LOGGED = {
  name: "log_insert_plants",
  text: logged({
    ...CREATED,
    from: "made JOIN unnest($1::bigint[], $6::text[]) AS w (id, writer) ON w.id = made.id",
    writers: "array_agg(writer)",
  }),
} as const satisfies Statement;

/** The same where one made all of them: the join would take a third of what the log costs. */
export const INSERT_LOGGED_OF_ONE = {
  name: "log_insert_plants_of_one",
  text: logged({ ...CREATED, from: "made", writers: "$6::text[]" }),
} as const satisfies Statement;

const BEFORE = "array_agg(made.name), array_agg(made.tag)";

export const UPDATE_LOGGED = {
  name: "log_update_plants",
  text: logged({
    change: updateText(true),
    from: "made WHERE NOT is_same",
    kind: "replaced",
    before: BEFORE,
    writers: writersOf("$8"),
    import: "$9",
  }),
} as const satisfies Statement;

export const DELETE_LOGGED = {
  name: "log_delete_plants",
  text: logged({
    change: deleteText(true),
    from: "made",
    kind: "deleted",
    before: BEFORE,
    writers: writersOf("$4"),
    import: "$5",
  }),
} as const satisfies Statement;

/**
 * Returns the upper bound of transactions that may have ended, the newest row, and for each process that writes to the
 * log now its transactions, 32 bits of them, or null if it shows none: see change-mark.ts. The snapshot of a statement
 * is taken before it looks at the locks, all of which it sees at once.
 */
export const LOOK = {
  name: "look_at_log",
  text: `WITH locks AS MATERIALIZED (SELECT * FROM pg_locks WHERE granted AND (transactionid IS NOT NULL OR relation IS NOT NULL)),
    writing AS (
      SELECT coalesce(pid, 0)::bigint AS pid, virtualtransaction FROM locks
      WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND relation = to_regclass('store.plant_changes')::oid
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())),
    newest AS (SELECT xid, at FROM store.plant_changes ORDER BY xid DESC, at DESC LIMIT 1)
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, (SELECT xid FROM newest)::text::bigint, (SELECT at FROM newest), pid, transactionid::text::bigint
    FROM (SELECT 1) AS one LEFT JOIN (
      SELECT pid, transactionid FROM writing LEFT JOIN (
        SELECT virtualtransaction, transactionid FROM locks WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock'
      ) AS numbered USING (virtualtransaction)
    ) AS writers ON true`,
} as const satisfies Statement;

/** Takes a mark. Returns the last row below it, and how many changes it has. */
export const NEWEST_BELOW = {
  name: "newest_change",
  text: `SELECT xid::text::bigint, changed, at FROM store.plant_changes AS c WHERE c.xid < $1::text::xid8 ORDER BY c.xid DESC, c.at DESC LIMIT 1`,
} as const satisfies Statement;

/**
 * Takes a place (row, time, number in it), a mark, how many changes at most, how many bytes of names and tags, and the row
 * that was seen. Returns the changes from that place on, itself included, with the plants as they are now; a mark has no
 * id. The last columns: how many there were before the bytes were counted, the newest row, whether that row is there.
 */
export const READ_CHANGES = {
  text: `SELECT xid::text::bigint, place, at, kind, id, was_named, tag_before, name, tag, is_there, read,
      seen_xid::text::bigint, seen_at, EXISTS (SELECT 1 FROM store.plant_changes AS s WHERE s.xid = $7::text::xid8 AND s.at = $8::bigint)
    FROM (SELECT xid AS seen_xid, at AS seen_at FROM store.plant_changes ORDER BY xid DESC, at DESC LIMIT 1) AS newest CROSS JOIN (
      SELECT e.*, plants.name, plants.tag, plants.id IS NOT NULL AS is_there, count(*) OVER () AS read,
        sum(coalesce(octet_length(plants.name), 0) + coalesce(octet_length(plants.tag), 0)) OVER (ORDER BY xid, at, place ROWS UNBOUNDED PRECEDING)
          - coalesce(octet_length(plants.name), 0) - coalesce(octet_length(plants.tag), 0) AS bytes
      FROM (
        SELECT c.xid, c.at, coalesce(e.place, 0) AS place, c.kind, e.id, e.name IS NOT NULL AS was_named, e.tag AS tag_before
        FROM (
          SELECT * FROM store.plant_changes
          WHERE (xid, at) >= ($1::text::xid8, $2::bigint) AND xid < $4::text::xid8 ORDER BY xid, at LIMIT $5::bigint
        ) AS c LEFT JOIN unnest(c.ids, c.names, c.tags) WITH ORDINALITY AS e (id, name, tag, place) ON true
        WHERE (c.xid, c.at, coalesce(e.place, 0)) >= ($1::text::xid8, $2::bigint, $3::bigint)
        ORDER BY c.xid, c.at, coalesce(e.place, 0) LIMIT $5::bigint
      ) AS e ${joinPlant("e")}
    ) AS changes WHERE bytes < $6::bigint ORDER BY xid, at, place`,
} as const satisfies Statement;

/** The time of the oldest row. */
export const OLDEST = {
  text: `SELECT coalesce((SELECT at FROM store.plant_changes ORDER BY xid, at LIMIT 1), 0)`,
} as const satisfies Statement;

/** How old the newest row may be, in microseconds, before a mark is made. */
const QUIET = "3600000000";

/** Writes a mark if the log is empty, or its newest row is not of the last hour: who follows a quiet store has a place that lasts. */
export const MAKE_MARK = {
  text: `INSERT INTO store.plant_changes ${COLUMNS}
    SELECT pg_current_xact_id(), now, 'mark', 0, '{}', NULL, NULL, '{}', NULL FROM (SELECT ${NOW} AS now) AS clock
    WHERE NOT EXISTS (
      SELECT 1 FROM (SELECT at FROM store.plant_changes ORDER BY xid DESC, at DESC LIMIT 1) AS newest
      WHERE at BETWEEN now - ${QUIET} AND now + ${QUIET})`,
} as const satisfies Statement;

/** Takes a place, days and how many rows. Returns the next rows, and whether each is to be kept. */
export const LIST_OLD = {
  text: `SELECT xid::text::bigint, at, CASE WHEN at > now THEN 'ahead' WHEN at < now - $3::bigint * 86400000000 THEN 'old' ELSE 'kept' END
    FROM (SELECT * FROM store.plant_changes WHERE (xid, at) > ($1::text::xid8, $2::bigint) ORDER BY xid, at LIMIT $4::bigint) AS c
    CROSS JOIN (SELECT ${NOW} AS now) AS clock ORDER BY xid, at`,
} as const satisfies Statement;

/** Takes a place. Deletes the rows up to it, but never the newest row of all. */
export const DELETE_OLD = {
  text: `DELETE FROM store.plant_changes WHERE (xid, at) <= ($1::text::xid8, $2::bigint)
    AND (xid, at) < (SELECT xid, at FROM store.plant_changes ORDER BY xid DESC, at DESC LIMIT 1)`,
} as const satisfies Statement;

const FIRST_ROWS = `(xid, at) IN (SELECT xid, at FROM store.plant_changes ORDER BY xid, at LIMIT $1::bigint)`;

/** Deletes the first rows, at most so many. Returns whether it saw more: some of the first ones others may delete. */
export const DELETE_FIRST = {
  text: `WITH deleted AS (DELETE FROM store.plant_changes WHERE ${FIRST_ROWS})
    SELECT count(*) > $1::bigint FROM (SELECT FROM store.plant_changes LIMIT $1::bigint + 1) AS first`,
} as const satisfies Statement;

/**
 * Deletes the first rows, at most so many, if there is one that no transaction of this server wrote: their numbers begin
 * again in a copy that was made by SQL (pg_dump), and what is written then would come before what was copied.
 */
export const DELETE_FOREIGN = {
  text: `DELETE FROM store.plant_changes WHERE ${FIRST_ROWS}
    AND EXISTS (SELECT 1 FROM store.plant_changes WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())) RETURNING at`,
} as const satisfies Statement;

export const EMPTY_LOG = { text: `DELETE FROM store.plant_changes` } as const satisfies Statement;

/** What this transaction has logged so far. */
export const LOGGED_HERE = {
  text: `SELECT kind, changed FROM store.plant_changes WHERE xid = pg_current_xact_id() ORDER BY at`,
} as const satisfies Statement;

import { TAGS_BYTES_MAX, TAGS_MAX } from "../tags.ts";
import type { TagCount } from "../tags.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { fromColumn } from "./engine/text.ts";

/** @limit PostgreSQL: duration of a count of all tags */
const COUNT_MS_MAX = 30_000;

/** Compared as bytes, tags have one order everywhere. */
const MOST_FREQUENT = "plants DESC, convert_to(tag, 'UTF8')";

/** The rows of a statement that counts tags, as many as a list may have. `more`: further columns. */
export function listTags(counted: string, more = ""): string {
  return `SELECT tag, plants${more} FROM (
      SELECT *, sum(octet_length(tag)) OVER (ORDER BY ${MOST_FREQUENT} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (${counted} ORDER BY ${MOST_FREQUENT} LIMIT ${TAGS_MAX + 1}) AS counted
    ) AS measured WHERE coalesce(bytes_before, 0) < ${TAGS_BYTES_MAX} ORDER BY ${MOST_FREQUENT}`;
}

export const COUNT_TAGS = {
  name: "count_tags",
  text: listTags("SELECT tag, count(*) AS plants FROM store.plants WHERE tag IS NOT NULL GROUP BY tag"),
} as const satisfies Statement;

export async function countTags(execute: Execute): Promise<TagCount[]> {
  const rows = await execute<[tag: string, plants: bigint]>(COUNT_TAGS, [], { statementMs: COUNT_MS_MAX, isRepeatable: true });
  return rows.slice(0, TAGS_MAX).map(([tag, plants]) => ({ tag: fromColumn(tag), plants: Number(plants) }));
}

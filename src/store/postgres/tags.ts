import { TAGS_MAX } from "../tags.ts";
import type { TagCount } from "../tags.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { fromColumn } from "./engine/text.ts";

const COUNT_MS_MAX = 30_000;

/** Takes the number of tags. Compared as bytes, tags have one order everywhere. */
export const COUNT_TAGS = {
  name: "count_tags",
  text: `SELECT tag, count(*) AS plants FROM plants WHERE tag IS NOT NULL GROUP BY tag
    ORDER BY count(*) DESC, convert_to(tag, 'UTF8') LIMIT $1::bigint`,
} as const satisfies Statement;

export async function countTags(execute: Execute): Promise<TagCount[]> {
  const rows = await execute<[tag: string, plants: bigint]>(COUNT_TAGS, [TAGS_MAX], { statementMs: COUNT_MS_MAX, isRepeatable: true });
  return rows.map(([tag, plants]) => ({ tag: fromColumn(tag), plants: Number(plants) }));
}

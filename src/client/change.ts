import { oneOf, optional, parseBigInt, parseBoolean, parseFields, parseNumber, parseObject, parseText } from "./json.ts";
import { parseContent, parsePlant } from "./plant.ts";
import type { Plant } from "./plant.ts";

export type ChangeKind = "created" | "replaced" | "deleted";

/**
 * That a plant changed, and what it is now: `plant` is missing if there is none, also when it was deleted after this
 * change. `at`: when it changed, in RFC 3339 with microseconds.
 */
export type Change = Readonly<{ id: bigint; change: ChangeKind; at: string; plant?: Plant }>;

/** `cursor`: behind this change. Without a `change`, all that came up to it is known, and none of it was asked for. */
export type FollowedChange = Readonly<{ change?: Change; cursor: string }>;

/**
 * `after`: the cursor that you have; without one it begins with what changes next. `tag`: only plants that have this tag,
 * or had it before the change. `untagged`: the same for no tag.
 */
export type ChangesQuery = Readonly<{ after?: string; tag?: string; untagged?: boolean }>;

const parseKind = oneOf("created", "replaced", "deleted");

/** Throws a TypeError. */
export function parseChange(value: unknown): Change {
  return parseObject<Change>(value, { id: parseBigInt, change: parseKind, at: parseText, plant: optional(parsePlant) });
}

/**
 * What happened to a plant. `from` and `to`: what it was before and after; missing where there was none, and where its
 * text was erased (`forgotten`). `by`: the name of the token that did it, or null for a command on the store itself; only
 * for tokens with the scope `admin`. `import`: the import that it belongs to.
 */
export type PastChange = Readonly<{
  id: bigint;
  change: ChangeKind;
  at: string;
  by?: string | null;
  import?: string;
  from?: Plant;
  to?: Plant;
  forgotten?: boolean;
}>;

/** The newest first. `next`: the query for the following page; the last page has none. */
export type PastPage = Readonly<{ changes: readonly PastChange[]; next?: PastQuery }>;

/** `limit`: changes per page, 1 to 1,000, default 100. `cursor`: where a page begins, from `next`. */
export type PastQuery = Readonly<{ limit?: number; cursor?: string }>;

/** What one file brought, in one request or several. `by` is as in a PastChange. */
export type PastImport = Readonly<{
  id: string;
  began: string;
  ended: string;
  by?: string | null;
  created: number;
  replaced: number;
}>;

/** Throws a TypeError, like the next one. */
export function parsePastChange(value: unknown): PastChange {
  const id = parseBigInt(parseFields(value)["id"]);
  return parseObject<PastChange>(value, {
    id: parseBigInt,
    change: parseKind,
    at: parseText,
    by: optional(parseName),
    import: optional(parseText),
    from: (content) => parseSide(id, content),
    to: (content) => parseSide(id, content),
    forgotten: optional(parseBoolean),
  });
}

export function parsePastImport(value: unknown): PastImport {
  return parseObject<PastImport>(value, {
    id: parseText,
    began: parseText,
    ended: parseText,
    by: optional(parseName),
    created: parseNumber,
    replaced: parseNumber,
  });
}

function parseSide(id: bigint, content: unknown): Plant | undefined {
  return content === undefined ? undefined : { id, ...parseContent(content) };
}

function parseName(value: unknown): string | null {
  return value === null ? null : parseText(value);
}

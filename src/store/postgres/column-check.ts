import { look, someOf } from "../check.ts";
import type { Look } from "../check.ts";
import { queryIfSupported, isTrue } from "./check-query.ts";
import { LIST_COLUMNS, LIST_HOOKS, LIST_KEYLESS } from "./check-statements.ts";
import type { Execute } from "./engine/retry.ts";
import { SCHEMA } from "./engine/schema.ts";

/** The columns that a store has. */
const COLUMN_TYPES: Readonly<Record<string, string>> = {
  "plants.id": "bigint",
  "plants.name": "text",
  "plants.tag": "text",
  "plants.words": "tsvector",
  "plants.name_key": "bytea",
  "plants.added": "bigint",
  "tokens.id": "text",
  "tokens.name": "text",
  "tokens.hash": "text",
  "tokens.scopes": "text",
  "tokens.created": "bigint",
  "tokens.expires": "bigint",
  "tokens.revoked": "bigint",
  "tokens.parent": "text",
  "tokens.used": "bigint",
};

/** The only column with a default. */
const ADDED = "plants.added";

/** Says what somebody else has made of our tables. */
export async function* lookAtColumns(execute: Execute): AsyncGenerator<Look, void, void> {
  const rows = (await queryIfSupported<[name: string, type: string, hasDefault: string]>(execute, LIST_COLUMNS)) ?? [];
  const types = new Map(rows.map(([name, type]) => [name, type]));
  const others = Object.entries(COLUMN_TYPES).flatMap(([name, type]) => {
    const [table, column] = name.split(".");
    const is = types.get(name);
    return is === undefined || is === type ? [] : [`${name} is ${is}: ALTER TABLE ${table} ALTER ${column} TYPE ${type}`];
  });
  const isUndated = rows.some(([name, , hasDefault]) => name === ADDED && hasDefault !== "t");
  const undated = isUndated
    ? [`${ADDED} has no default: ALTER TABLE plants ALTER added SET DEFAULT (extract(epoch FROM now()) * 1000000)::bigint`]
    : [];
  const keyless = (await queryIfSupported<[table: string]>(execute, LIST_KEYLESS)) ?? [];
  const unkeyed = keyless.map(([table]) => `${table} has no primary key: ALTER TABLE ${table} ADD PRIMARY KEY (id)`);
  const faults = [...others, ...undated, ...unkeyed];
  if (faults.length > 0) yield look("columns", "wrong", someOf(faults));
  const hooks = (await queryIfSupported<[name: string]>(execute, LIST_HOOKS)) ?? [];
  if (hooks.length > 0)
    yield look("columns", "note", `constraints and triggers may refuse or change plants: ${someOf(hooks.map(([name]) => name))}`);
  if (!(await isTrue(execute, SCHEMA.isAllowed)))
    yield look("columns", "note", "this user may not change plants and tokens: a service would not be ready with it");
}

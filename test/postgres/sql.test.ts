import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import type { Database, Statement } from "../../src/store/postgres/engine/pool.ts";
import { COLUMN, SCHEMA, STATISTICS, STEPS } from "../../src/store/postgres/engine/schema.ts";
import { INDEX, isIndex } from "../../src/store/postgres/engine/index-build.ts";
import * as requirements from "../../src/store/postgres/engine/requirements.ts";
import * as changeStatements from "../../src/store/postgres/change-statements.ts";
import * as checkStatements from "../../src/store/postgres/check-statements.ts";
import { LIST_DATED_PLANTS, LIST_DATED_PLANTS_UP_TO, LIST_PLANTS_UP_TO, LISTS } from "../../src/store/postgres/list-statements.ts";
import * as orderStatements from "../../src/store/postgres/order-statements.ts";
import * as pastStatements from "../../src/store/postgres/past-statements.ts";
import * as plantStatements from "../../src/store/postgres/plant-statements.ts";
import { PROBE_BEGIN } from "../../src/store/postgres/probe.ts";
import { RESTORE_BEGIN } from "../../src/store/postgres/restore.ts";
import { lookAtShards } from "../../src/store/postgres/shard-indexes.ts";
import { LOCK_STATEMENTS, SNAPSHOT_STATEMENTS } from "../../src/store/postgres/snapshot.ts";
import { COUNT_TAGS, countStatement, countTagsStatement, ESTIMATE_PLANTS, ESTIMATE_SHARDS } from "../../src/store/postgres/counts.ts";
import * as tokenStatements from "../../src/store/postgres/token-statements.ts";
import { RELEASED } from "../support/postgres/released-steps.ts";
import { PROJECT } from "../support/process.ts";

/** What some relatives of PostgreSQL lack or do differently, by pattern, and why. */
const BANNED: ReadonlyArray<readonly [pattern: RegExp, why: string]> = [
  [/\bON CONFLICT (?!\((id)\))/i, "a conflict without its target"],
  [
    /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|random|gen_random_uuid|nextval)\s*\(|\bCURRENT_(TIME|DATE|TIMESTAMP)/i,
    "a value that the server makes",
  ],
  [/\b(BIG|SMALL)?SERIAL\b|\bGENERATED\b|\bSEQUENCE\b/i, "numbers that the server gives"],
  [/\b(INT|INTEGER|SMALLINT|INT4|INT8|VARCHAR|CHAR|TIMESTAMP|TIMESTAMPTZ|JSONB?)\b/i, "a type that differs"],
  [/\b(TRIGGER|RULE|DOMAIN|EXCLUDE|DEFERRABLE|MERGE|REFERENCES)\b/i, "a feature that some lack"],
  [/\b(LISTEN|NOTIFY|UNLISTEN)\b|advisory|\bLOCK TABLE\b/i, "locks and messages of the whole server"],
  [/\b(xmin|xmax|ctid|tableoid|OLD|NEW)\b/, "columns of the system"],
  [
    /\b(OFFSET|FOR UPDATE|FOR SHARE|BEGIN|COMMIT|SAVEPOINT|SET TRANSACTION|SERIALIZABLE)\b/i,
    "pages by offset, and transactions of more than one statement",
  ],
  [/\bCOLLATE\b|\bI?LIKE\b|\b(upper|lower)\s*\(/i, "an order or case of text that the server decides"],
  [/;/, "more than one statement"],
];

const { insertRows, updateText: _updateText, deleteText: _deleteText, ...ofPlants } = plantStatements;
const { checkIndex, ...ofChecks } = checkStatements;
const {
  SORTED_MAX: _sorted,
  LOOKED_AT_MAX: _lookedAt,
  orderedPlants,
  orderedAhead,
  orderedMatching,
  lastAhead,
  ...ofKeys
} = orderStatements;
const ORDERS = ["name", "-name", "newest", "oldest"] as const;
const FILTERS = (["none", "given"] as const).flatMap((tag) => [true, false].map((hasWords) => ({ tag, hasWords })));
const LISTED = Object.values(LISTS).flatMap(({ plants }) => Object.values(plants));
const SEARCHES = Object.values(LISTS).flatMap(({ withWords }) => Object.values(withWords).flatMap((ways) => Object.values(ways)));
const ORDERED = ORDERS.flatMap((order) => [
  lastAhead(order),
  ...[orderedPlants(order), ...FILTERS.flatMap((filter) => [orderedAhead(order, filter), orderedMatching(order, filter)])].flatMap(
    ({ brief, measured }) => [brief, measured],
  ),
]);
/** The one value that the server makes: replicas have no common clock. */
const ADDED = "DEFAULT (extract(epoch FROM now()) * 1000000)::bigint";
const TERMS = [undefined, null, "tree"].flatMap((tag) => [[], [{ anyOf: ["word"] }]].map((words) => ({ tag, words })));
const ALL: readonly Statement[] = [
  ...Object.values(ofPlants),
  ...Object.values(ofKeys),
  insertRows(2),
  ...Object.values(tokenStatements),
  ...Object.values(ofChecks),
  checkIndex("public"),
  COUNT_TAGS,
  // It asks for a right, and for no feature.
  { text: requirements.FIND_CREATORS.text.replace("'TRIGGER'", "''") },
  ESTIMATE_PLANTS,
  ...TERMS.flatMap((terms) => [countStatement(terms), countTagsStatement(terms)]),
  ...[...SEARCHES, ...LISTED, LIST_PLANTS_UP_TO, LIST_DATED_PLANTS, LIST_DATED_PLANTS_UP_TO].flatMap(({ brief, measured }) => [
    brief,
    measured,
  ]),
  ...ORDERED,
  ...STEPS.map(({ text }) => ({ text: text.replace(ADDED, "") })),
  COLUMN.isThere("plants", "added"),
  STATISTICS.areThere("store.plants", "plants_of_tag"),
  ...Object.values(SCHEMA),
  INDEX.state("plants_by_word"),
  INDEX.progress("store.plants"),
  INDEX.drop("plants_by_word"),
  INDEX.rebuild("plants_by_word"),
  INDEX.isEmpty("store.plants"),
  requirements.UNLIMIT,
  requirements.INSPECT,
  requirements.pin({ serverMs: 1000, isLocal: true }),
  // It compares times, and stores none.
  { text: requirements.FIND_ALIVE.text.replace("clock_timestamp()", "") },
  requirements.RESET,
];

describe("the SQL", () => {
  it("contains nothing that a relative of PostgreSQL lacks", () => {
    expect(ALL.length).toBeGreaterThan(20);
    const found = ALL.flatMap(({ text }) => BANNED.filter(([pattern]) => pattern.test(text)).map(([, why]) => `${why}: ${text}`));
    expect(found).toEqual([]);
  });

  it("begins no transaction of several statements but that of an export, which only reads, of its lock on Citus, of the probe, which is rolled back, and of a restore", () => {
    const folder = join(PROJECT, "src/store/postgres");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const found = files.flatMap((name) => readFileSync(join(folder, name), "utf8").match(/["`](BEGIN|START TRANSACTION)\b[^"`]*/g) ?? []);
    const [{ text }] = SNAPSHOT_STATEMENTS;
    expect(text).toEndWith("READ ONLY");
    // Another is around a single statement, for Citus or behind a pooler.
    expect(found.toSorted()).toEqual([
      `"${LOCK_STATEMENTS[0].text}`,
      // Where a user's connections begin, behind a pooler: it is rolled back.
      `"${requirements.FIND_SEARCHED[0].text}`,
      `"${PROBE_BEGIN.text}`,
      `"${RESTORE_BEGIN.text}`,
      // Whatever isolation the user has: behind a lock it must see what was so when the lock was granted.
      `"BEGIN ISOLATION LEVEL READ COMMITTED`,
      `"${text}`,
    ]);
  });

  it("creates one thing per step, which may already exist", () => {
    const once = /CREATE (UNIQUE )?(TABLE|INDEX|STATISTICS) IF NOT EXISTS|ALTER TABLE store\.\w+ ADD COLUMN IF NOT EXISTS/g;
    for (const { text } of STEPS) expect(text.match(once)).toHaveLength(1);
  });

  it("has never changed a step that was released", () => {
    expect(STEPS.slice(0, RELEASED.length).map(({ text }) => text.replaceAll(/\b(store|pg_catalog)\./g, ""))).toEqual([...RELEASED]);
  });

  it("casts every parameter except those that a driver handles", () => {
    for (const { text } of [...ALL, ...Object.values(changeStatements), ...Object.values(pastStatements)])
      expect(text.match(/\$\d+(?!\d*::)/g) ?? [], text).toEqual([]);
  });

  it("names the ids of the plants that it reads or changes, so that Citus asks only the shards that have them", () => {
    const { CONFIRM_PLANTS, UPDATE_PLANTS, DELETE_PLANTS, FIND_PLANTS } = plantStatements;
    for (const { text } of [CONFIRM_PLANTS, UPDATE_PLANTS, DELETE_PLANTS, FIND_PLANTS])
      expect(text).toMatch(/ WHERE (plants\.)?id = ANY\(\$1::bigint\[\]\)/);
  });

  /** Words before a parenthesis that are no functions, or always those of PostgreSQL (gram.y). */
  const GRAMMAR = /^(SELECT|FROM|JOIN|WHERE|THEN|IN|ANY|AND|NOT|EXISTS|WITH|AS|coalesce|extract)$/;

  /** Functions, tables, types and operators in a statement that name no schema. */
  function findUnqualified(text: string): string[] {
    const code = text.replaceAll(/'[^']*'/g, "''").replaceAll(/OPERATOR\(pg_catalog\.[^)]+\)/g, "");
    const local = new Set(Array.from(code.matchAll(/\b(\w+) AS \(|\) AS (\w+)/g), ([, first, second]) => first ?? second!));
    return [
      ...Array.from(code.matchAll(/(?<![\w.$])(\w+) ?\(/g), ([, name]) => name!).filter((name) => !GRAMMAR.test(name)),
      ...Array.from(code.matchAll(/\b(?:FROM|JOIN) (\w+)\b(?!\.| ?\(|\w)/g), ([, name]) => name!).filter((name) => !local.has(name)),
      ...Array.from(code.matchAll(/::(\w+)(?!\w|\.)/g), ([, name]) => name!).filter((name) => name !== "bigint"),
      ...(code.match(/[<>=+*|@~/]+/g) ?? []).filter((symbol) => symbol !== "*"),
    ];
  }

  it("has every name qualified where the search path is that of the user: before ours is set, outside of a pooler's transactions, on nodes of Citus", async () => {
    const passedOn: string[] = [];
    const session = {
      begin: async () => {},
      async query(statement: Statement) {
        passedOn.push(statement.text);
        return statement.text.includes("amcheck") ? [["a:1", "true", "public"]] : [];
      },
      close: () => {},
    };
    const database = { reserve: async () => session } as unknown as Database;
    for await (const _ of lookAtShards(database, { amcheck: "public" }));
    expect(passedOn.length).toBe(6);
    const onNodes = [ESTIMATE_SHARDS.text, ...passedOn].flatMap((text) => {
      const command = /on_all_nodes\('(.*)'\)/s.exec(text)?.[1];
      return command === undefined ? [] : [command.replaceAll("''", "'")];
    });
    expect(onNodes.length).toBe(4);
    const asking = passedOn.map((text) => text.replace(/on_all_nodes\('.*'\)/s, "on_all_nodes('')"));
    const before = [
      requirements.IDENTIFY,
      requirements.FIND_AGE,
      requirements.FIND_READER,
      requirements.FIND_TIMELINE,
      ...requirements.FIND_SEARCHED,
      requirements.RESET,
      requirements.UNLIMIT,
      checkIndex("public"),
    ];
    const pins = [true, false].map((isLocal) => requirements.pin({ serverMs: 1000, isLocal }));
    for (const text of [...[...before, ...pins].map((statement) => statement.text), ...asking, ...onNodes])
      expect(findUnqualified(text), text).toEqual([]);
    const builds = STEPS.filter(isIndex).map(({ text }) => text.slice(text.indexOf("(")));
    for (const text of builds) expect(findUnqualified(text), text).toEqual([]);
  });

  it("is nowhere else", () => {
    const folder = join(PROJECT, "src/store/postgres");
    // Of shards only Citus is asked, once it is known to be there, and of changes only PostgreSQL itself.
    const known =
      /^((change|check|list|order|past|plant|token|shard)-statements|counts|snapshot|shard-indexes|engine\/(index-build|schema|requirements|shards))\.ts$/;
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts") && !known.test(name));
    expect(files.length).toBeGreaterThan(5);
    for (const name of files)
      expect(readFileSync(join(folder, name), "utf8"), name).not.toMatch(/["`]\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|SET|WITH) /);
  });
});

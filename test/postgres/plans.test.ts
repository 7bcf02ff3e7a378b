import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import type { Statement } from "../../src/store/postgres/engine/pool.ts";
import { pin } from "../../src/store/postgres/engine/requirements.ts";
import { LOG_STEPS, STEPS } from "../../src/store/postgres/engine/schema.ts";
import * as changeStatements from "../../src/store/postgres/change-statements.ts";
import * as pastStatements from "../../src/store/postgres/past-statements.ts";
import { LISTS } from "../../src/store/postgres/list-statements.ts";
import * as orderStatements from "../../src/store/postgres/order-statements.ts";
import * as plantStatements from "../../src/store/postgres/plant-statements.ts";
import { countStatement, countTagsStatement } from "../../src/store/postgres/counts.ts";
import { CONFIRM_TOKEN, FIND_TOKEN, IS_TOKEN_REVOKED, REVOKE_TOKEN, TOUCH_TOKENS } from "../../src/store/postgres/token-statements.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";

const ROWS = 10_000;

const { INSERT_LOGGED, INSERT_LOGGED_OF_ONE, UPDATE_LOGGED, DELETE_LOGGED, NEWEST_BELOW } = changeStatements;
const { INSERT_PLANTS, CONFIRM_PLANTS, UPDATE_PLANTS, DELETE_PLANTS, FIND_PLANTS, RESTORE_PLANTS } = plantStatements;

/** Every statement that has a name, and so a plan that is kept, except those that read whole tables. */
const PREPARED: ReadonlyArray<readonly [Statement, values: string]> = [
  [INSERT_PLANTS, `'{1}', '{a}', '{b}', '{a}', '{38}'`],
  [CONFIRM_PLANTS, `'{1}', '{a}', '{b}'`],
  [UPDATE_PLANTS, `'{1}', '{a}', '{b}', '{c}', '{d}', '{c}', '{3a}'`],
  [DELETE_PLANTS, `'{1}', '{a}', '{b}'`],
  [INSERT_LOGGED, `'{1}', '{a}', '{b}', '{a}', '{38}', '{c}', 'd'`],
  [INSERT_LOGGED_OF_ONE, `'{1}', '{a}', '{b}', '{a}', '{38}', '{c}', 'd'`],
  [UPDATE_LOGGED, `'{1}', '{a}', '{b}', '{c}', '{d}', '{c}', '{3a}', '{c}', 'd'`],
  [DELETE_LOGGED, `'{1}', '{a}', '{b}', '{c}', 'd'`],
  [NEWEST_BELOW, `'5'`],
  [FIND_PLANTS, `'{1}'`],
  [RESTORE_PLANTS, `'{1}', '{a}', '{b}', '{a}', '{38}', '{1}'`],
  [LISTS.ascending.plants.any.brief, `1, 100, 1000`],
  [LISTS.descending.plants.any.brief, `1, 100, 1000`],
  [CONFIRM_TOKEN, `'a', 'a'`],
  [FIND_TOKEN, `'a'`],
  [IS_TOKEN_REVOKED, `'a'`],
  [REVOKE_TOKEN, `'a', 1`],
  [TOUCH_TOKENS, `'{a}', '{1}', '1'`],
];

const GIVEN = { tag: "given", hasWords: true } as const;

const MANY = 100_000;

/** What reads a page in an order, from a place in the middle. */
const ORDERED: ReadonlyArray<readonly [what: string, Statement, values: readonly unknown[]]> = (
  [
    ["name", "80", "82"],
    ["newest", "50000", "49000"],
  ] as const
).flatMap(([order, key, end]) => [
  [`a page by ${order}`, orderStatements.orderedPlants(order).brief, [key, 100, 1000, 1]],
  [`a measured page by ${order}`, orderStatements.orderedPlants(order).measured, [key, 100, 1000, 1]],
  [`a look ahead by ${order}`, orderStatements.lastAhead(order), [key, 1]],
  [`what matches ahead by ${order}`, orderStatements.orderedAhead(order, GIVEN).brief, [key, 100, 1000, 1, end, 1, "b", "a"]],
  [`what matches ahead by ${order}, measured`, orderStatements.orderedAhead(order, GIVEN).measured, [key, 100, 1000, 1, end, 1, "b", "a"]],
]);

/** So few of the plants that a sort of all would cost more, as 10,000 are of a million. */
const FEW = 100;

/** What counts the plants of a tag, which a third of them have, or of none. */
const COUNTED: ReadonlyArray<readonly [what: string, Statement, values: readonly unknown[]]> = [
  ["a count of a tag", countStatement({ tag: "b", words: [] }), [FEW, "b"]],
  ["a count without tag", countStatement({ tag: null, words: [] }), [FEW]],
  ["the tags of a tag", countTagsStatement({ tag: "b", words: [] }), [FEW, "b"]],
];

const client = new Client({ connectionString: await (await sharedCluster()).createDatabase() });
await client.connect();
// What our statements call the schema of our tables.
await client.query("CREATE SCHEMA store; SET search_path = store");
for (const { text } of [...STEPS, ...LOG_STEPS]) await client.query(text);

async function explain(values: string, name = "kept"): Promise<string> {
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS off) EXECUTE ${name} (${values})`);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

/** The plan that a connection makes while the tables are empty, and what it still is once they are not. */
async function plansOf(statement: Statement, values: string): Promise<string[]> {
  await client.query("TRUNCATE plants, tokens, plant_changes");
  await client.query(`PREPARE kept AS ${statement.text}`);
  try {
    const empty = await explain(values);
    await client.query(
      `INSERT INTO plants (id, name, tag, words, name_key) SELECT id, 'a', 'b', 'a', '8' FROM generate_series(1, ${ROWS}) AS id`,
    );
    await client.query(
      `INSERT INTO tokens (id, name, hash, scopes, created) SELECT id, 'a', id, 'a', 1 FROM generate_series(1, ${ROWS}) AS id`,
    );
    await client.query(FILL_LOG);
    return [empty, await explain(values)];
  } finally {
    await client.query("DEALLOCATE kept");
  }
}

/** A row for each plant, as creates one by one make them. */
const FILL_LOG = `INSERT INTO plant_changes (xid, at, kind, changed, ids, writers)
  SELECT id::text::xid8, id, CASE WHEN id % 100 = 0 THEN 'deleted' ELSE 'created' END, 1, ARRAY[id], '{""}' FROM generate_series(1::bigint, ${ROWS}) AS id`;

afterAll(() => client.end());

async function planOf({ text }: Statement, values: readonly unknown[]): Promise<string> {
  const literal = text.replaceAll(/\$(\d+)/g, (_, at) => `'${String(values[Number(at) - 1])}'`);
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS off) ${literal}`);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

/** The same where the planner does not know how many plants a tag has. */
async function planWithoutStatistics(statement: Statement, values: readonly unknown[]): Promise<string> {
  await client.query("BEGIN; DROP STATISTICS plants_of_tag");
  try {
    return await planOf(statement, values);
  } finally {
    await client.query("ROLLBACK");
  }
}

describe("a plan that is made while the tables are empty, and kept", () => {
  beforeAll(async () => {
    // As a connection plans after the fifth use; and nothing tells the planner of the rows that come.
    await client.query("SET plan_cache_mode = force_generic_plan");
    for (const table of ["plants", "tokens", "plant_changes"]) await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  });
  it("is tested for every statement on plants that has a name", () => {
    const lists = Object.values(LISTS).flatMap(({ plants }) => Object.values(plants).map(({ brief }) => brief));
    const names = [
      ...[plantStatements, changeStatements, orderStatements].flatMap((all): unknown[] => Object.values(all)),
      ...lists,
    ].flatMap((statement) => (isNamed(statement) && statement.name.includes("plants") ? [statement.name] : []));
    expect(names.toSorted()).toEqual(PREPARED.flatMap(([{ name = "" }]) => (name.includes("plants") ? [name] : [])).toSorted());
  });

  for (const [statement, values] of PREPARED) {
    it(`reads no whole table for ${statement.name}, also ${ROWS} rows later`, async () => {
      const [empty, later] = await plansOf(statement, values);
      expect(empty).not.toMatch(/Seq Scan/);
      expect(later).not.toMatch(/Seq Scan/);
    });
  }
});

function isNamed(statement: unknown): statement is Readonly<{ name: string }> {
  return typeof statement === "object" && statement !== null && "name" in statement;
}

const PLACE = ["5000", "5000", "1"];

/** What reads the log, from a place in the middle. */
const CHANGES: ReadonlyArray<readonly [what: string, Statement, values: readonly unknown[]]> = [
  ["a page of changes", changeStatements.READ_CHANGES, [...PLACE, "9000", 100, 1000, ...PLACE.slice(0, 2)]],
  ["what is old", changeStatements.LIST_OLD, ["0", "0", "30", 100]],
];

/** What people read, from the same place back. */
const PAST: ReadonlyArray<readonly [what: string, Statement, values: readonly unknown[]]> = [
  ["the changes of a plant", pastStatements.CHANGES_OF_PLANT, [...PLACE, 100, "5"]],
  ["what was deleted", pastStatements.DELETIONS, [...PLACE, 10]],
  ["the changes of an import", pastStatements.CHANGES_OF_IMPORT, [...PLACE, 100, "a"]],
];

/** How many rows of the log are counted at most. */
const COUNTED_ROWS = 5001;

type Step = Readonly<{
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: readonly Step[];
}>;

/** The steps of a plan that was carried out, and how many rows each looked at. */
async function runSteps(
  { text }: Statement,
  values: readonly unknown[],
): Promise<ReadonlyArray<Readonly<{ table: string; rows: number }>>> {
  const literal = text.replaceAll(/\$(\d+)/g, (_, at) => `'${String(values[Number(at) - 1])}'`);
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Step }] }>(`EXPLAIN (ANALYZE, COSTS off, FORMAT JSON) ${literal}`);
  const walk = (step: Step): { table: string; rows: number }[] => [
    {
      table: step["Relation Name"] ?? "",
      rows: (step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0)) * step["Actual Loops"],
    },
    ...(step.Plans ?? []).flatMap(walk),
  ];
  return walk(rows[0]!["QUERY PLAN"][0].Plan);
}

const sum = (steps: ReadonlyArray<Readonly<{ rows: number }>>) => steps.reduce((total, { rows }) => total + rows, 0);

describe("a plan of what reads the log of changes", () => {
  beforeAll(async () => {
    await client.query("TRUNCATE plants, plant_changes");
    await client.query("SET plan_cache_mode = auto");
    await client.query(FILL_LOG);
    await client.query("INSERT INTO plants (id, name, words) SELECT id, 'a', 'a' FROM generate_series(1, 10000) AS id");
    await client.query("ANALYZE plants, plant_changes");
  });

  for (const [what, statement, values] of CHANGES)
    it(`reads no whole table for ${what}`, async () => {
      expect(await planOf(statement, values)).not.toMatch(/Seq Scan/);
    });

  for (const [what, statement, values] of PAST)
    it(`reads few rows for ${what}, once it has counted whether the log is long`, async () => {
      const steps = await runSteps(statement, values);
      const ofLog = steps.filter(({ table }) => table === "plant_changes");
      expect(sum(ofLog)).toBeLessThan(COUNTED_ROWS + 500);
      expect(sum(steps.filter(({ table }) => table === "plants"))).toBeLessThan(500);
    });
});

/** Imports that replace the same plants again and again, each in two commits. */
const IMPORTS = 12;
const IMPORTED = 400;

describe("a page of the past, after many imports of the same plants", () => {
  beforeAll(async () => {
    await client.query("TRUNCATE plants, plant_changes");
    await client.query(`INSERT INTO plants (id, name, words) SELECT id, 'a', 'a' FROM generate_series(1, ${ROWS}) AS id`);
    await client.query(`INSERT INTO plant_changes (xid, at, kind, changed, ids, names, tags, writers, import)
      SELECT (2 * i + id % 2)::text::xid8, 2 * i + id % 2, 'replaced', count(*), array_agg(id), array_agg('a' || i), array_agg('b'::text), '{""}', 'import ' || i
      FROM generate_series(1, ${IMPORTS}) AS i, generate_series(1::bigint, ${IMPORTED}) AS id GROUP BY i, id % 2`);
  });

  for (const [what, statement, value] of [
    ["the first import", pastStatements.CHANGES_OF_IMPORT, "import 1"],
    ["a plant", pastStatements.CHANGES_OF_PLANT, "7"],
  ] as const)
    it(`looks at each entry of the log a few times at most, for ${what}`, async () => {
      const end = "9000";
      const entries = IMPORTS * IMPORTED;
      for (const state of ["without", "with"]) {
        if (state === "with") await client.query("ANALYZE plants, plant_changes");
        expect(sum(await runSteps(statement, [end, end, end, 1001, value])), `${state} statistics`).toBeLessThan(10 * entries);
      }
    });
});

describe("a plan of a page in an order, or of a count", () => {
  beforeAll(async () => {
    await client.query("TRUNCATE plants");
    await client.query("SET plan_cache_mode = auto");
    await client.query(pin({ serverMs: 60_000, isLocal: false }).text);
    await client.query("SET search_path = store");
    await client.query(
      `INSERT INTO plants (id, name, tag, words, name_key, added) SELECT id, 'a', CASE WHEN id % 3 = 0 THEN 'b' ELSE 'tag ' || id % 100 END, 'a',
       sha256(id::text::bytea), id FROM generate_series(1, ${MANY}) AS id`,
    );
    await client.query("ANALYZE plants");
  });

  for (const [what, statement, values] of ORDERED)
    it(`reads the index of the order for ${what}`, async () => {
      const plan = await planOf(statement, values);
      expect(plan).toMatch(/Index (Only )?Scan (Backward )?using plants_by_(name|newest)/);
      expect(plan).not.toMatch(/Seq Scan|Bitmap|Sort Key: .*text/);
    });

  for (const [what, statement, values] of COUNTED)
    it(`ends at its limit, in the index of the tag, for ${what}`, async () => {
      const plan = await planOf(statement, values);
      expect(plan).toMatch(/Limit\n *-> {2}Index (Only )?Scan using plants_(by_tag|without_tag)/);
      expect(plan).not.toMatch(/Seq Scan|Bitmap/);
    });

  it("notes no places for a count of a tag with a word that many plants have, as it would without statistics", async () => {
    const [count, values] = [countStatement({ tag: "b", words: [{ anyOf: ["a"] }] }), [FEW, "b", "a:*"]] as const;
    expect(await planOf(count, values)).not.toMatch(/Bitmap/);
    expect(await planWithoutStatistics(count, values)).toMatch(/Bitmap Index Scan on plants_by_tag/);
  });
});

describe("a plan of a search", () => {
  beforeAll(async () => {
    await client.query("TRUNCATE plants");
    // The planner knows that each hundredth plant has a word, and not that all of these are at the end.
    await client.query(
      `INSERT INTO plants (id, name, tag, words, name_key, added)
        SELECT id, 'a', CASE WHEN id % 2 = 0 THEN 'b' END, ('s' || id * 7919 % 19997 || CASE WHEN id > ${0.99 * MANY} THEN ' far' ELSE '' END)::tsvector, '8', id
        FROM generate_series(1::bigint, ${MANY}) AS id`,
    );
    await client.query("ANALYZE plants");
  });

  const [FIRST, LIMIT, BYTES] = [0, 100, 1000];
  for (const [direction, { withWords }] of Object.entries(LISTS))
    for (const [filter, values] of [
      ["any", []],
      ["given", ["b"]],
      ["none", []],
    ] as const)
      for (const way of ["near", "far"] as const)
        it(`looks ${way} in the order of ids, ${direction}, filter: ${filter}`, async () => {
          const first = direction === "ascending" ? FIRST : MANY;
          const plan = await planOf(withWords[filter][way].brief, [first, LIMIT, BYTES, ...values, "s7:*"]);
          expect(plan).toMatch(/Limit\n *-> {2}Index Scan (Backward )?using plants_(pkey|by_tag|without_tag)/);
          expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
        });

  it("puts plants that are far away into order, which the planner would look for one by one", async () => {
    const { sorted, planned } = LISTS.ascending.withWords.any;
    expect(await planOf(sorted.brief, [FIRST, LIMIT, BYTES, "far:*"])).toMatch(/Sort[^]*Bitmap Index Scan on plants_by_word/);
    expect(await planOf(planned.brief, [FIRST, LIMIT, BYTES, "far:*"])).toMatch(/Limit\n *-> {2}Index Scan using plants_pkey/);
  });
});

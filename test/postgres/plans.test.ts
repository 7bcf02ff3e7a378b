import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import type { Statement } from "../../src/store/postgres/engine/pool.ts";
import { STEPS } from "../../src/store/postgres/engine/schema.ts";
import * as plantStatements from "../../src/store/postgres/plant-statements.ts";
import { CONFIRM_TOKEN, FIND_TOKEN, IS_TOKEN_REVOKED, REVOKE_TOKEN, TOUCH_TOKENS } from "../../src/store/postgres/token-statements.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";

const ROWS = 10_000;

const { INSERT_PLANTS, CONFIRM_PLANTS, REPLACE_PLANTS, UPDATE_PLANTS, DELETE_PLANTS, FIND_PLANTS, LIST_PLANTS } = plantStatements;

/** Every statement that has a name, and so a plan that is kept, except those that read whole tables. */
const PREPARED: ReadonlyArray<readonly [Statement, values: string]> = [
  [INSERT_PLANTS, `'{1}', '{a}', '{b}', '{a}'`],
  [CONFIRM_PLANTS, `'{1}', '{a}', '{b}'`],
  [REPLACE_PLANTS, `'{1}', '{a}', '{b}', '{a}'`],
  [UPDATE_PLANTS, `'{1}', '{a}', '{b}', '{c}', '{d}', '{c}'`],
  [DELETE_PLANTS, `'{1}', '{a}', '{b}'`],
  [FIND_PLANTS, `'{1}'`],
  [LIST_PLANTS.all.brief, `1, 100, 1000`],
  [CONFIRM_TOKEN, `'a', 'a'`],
  [FIND_TOKEN, `'a'`],
  [IS_TOKEN_REVOKED, `'a'`],
  [REVOKE_TOKEN, `'a', 1`],
  [TOUCH_TOKENS, `'{a}', '{1}'`],
];

/** What the plan of a statement was without the ids as a condition of their own. */
const WITHOUT_IDS: Statement = { ...CONFIRM_PLANTS, text: CONFIRM_PLANTS.text.replace("plants.id = ANY($1::bigint[]) AND ", "") };

const client = new Client({ connectionString: await (await sharedCluster()).createDatabase() });

async function explain(values: string, name = "kept"): Promise<string> {
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS off) EXECUTE ${name} (${values})`);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

/** The plan that a connection makes while the tables are empty, and what it still is once they are not. */
async function plansOf(statement: Statement, values: string): Promise<string[]> {
  await client.query("TRUNCATE plants, tokens");
  await client.query(`PREPARE kept AS ${statement.text}`);
  try {
    const empty = await explain(values);
    await client.query(`INSERT INTO plants SELECT id, 'a', 'b', 'a' FROM generate_series(1, ${ROWS}) AS id`);
    await client.query(
      `INSERT INTO tokens (id, name, hash, scopes, created) SELECT id, 'a', id, 'a', 1 FROM generate_series(1, ${ROWS}) AS id`,
    );
    return [empty, await explain(values)];
  } finally {
    await client.query("DEALLOCATE kept");
  }
}

describe("a plan that is made while the tables are empty, and kept", () => {
  beforeAll(async () => {
    await client.connect();
    for (const { text } of STEPS) await client.query(text);
    // As a connection plans after the fifth use; and nothing tells the planner of the rows that come.
    await client.query("SET plan_cache_mode = force_generic_plan");
    for (const table of ["plants", "tokens"]) await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  });
  afterAll(() => client.end());

  it("is tested for every statement on plants that has a name", () => {
    const names = Object.values({ ...plantStatements, ...LIST_PLANTS.all }).flatMap((statement) =>
      typeof statement === "object" && "name" in statement ? [statement.name] : [],
    );
    expect(names.toSorted()).toEqual(PREPARED.flatMap(([{ name = "" }]) => (name.includes("plants") ? [name] : [])).toSorted());
  });

  for (const [statement, values] of PREPARED) {
    it(`reads no whole table for ${statement.name}, also ${ROWS} rows later`, async () => {
      const [empty, later] = await plansOf(statement, values);
      expect(empty).not.toMatch(/Seq Scan/);
      expect(later).not.toMatch(/Seq Scan/);
    });
  }

  it("would read the whole table for a join alone", async () => {
    expect((await plansOf(WITHOUT_IDS, `'{1}', '{a}', '{b}'`))[1]).toMatch(/Seq Scan on plants/);
  });
});

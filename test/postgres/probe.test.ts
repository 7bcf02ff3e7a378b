import { describe, expect, it } from "bun:test";
import { FIND_AGE, FIND_READER } from "../../src/store/postgres/engine/requirements.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { startRewriter } from "../support/postgres/stand-in.ts";
import { openLog, openStore } from "../support/postgres/store.ts";
import { rejectionOf } from "../support/rejection.ts";

function triggerOn(event: string, body: string, when = "BEFORE"): string[] {
  return [
    `CREATE FUNCTION misbehave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`,
    `CREATE TRIGGER misbehave ${when} ${event} ON plants FOR EACH ROW EXECUTE FUNCTION misbehave()`,
  ];
}

/** What stands between the service and its plants, and what the probe sees. */
const MISBEHAVIOUR: ReadonlyArray<readonly [what: string, sql: readonly string[], seen: string]> = [
  [
    "writes each plant to two places",
    [
      "CREATE TABLE plants_copy () INHERITS (plants)",
      ...triggerOn("INSERT", "INSERT INTO public.plants_copy VALUES (NEW.*); RETURN NULL;", "AFTER"),
    ],
    "after 32 plants were written, 64 were found instead of 32.",
  ],
  [
    "loses the plants of a part of the key space",
    triggerOn("INSERT", "IF NEW.id < -4611686018427387904 THEN RETURN NULL; END IF; RETURN NEW;"),
    "of 32 plants that were written, 24 were reported instead of 32.",
  ],
  ["stores other names", triggerOn("INSERT", "NEW.name = upper(NEW.name); RETURN NEW;"), "was not found."],
  ["trims names", triggerOn("INSERT", "NEW.name = trim(NEW.name); RETURN NEW;"), "was not found."],
  ["makes no changes", triggerOn("UPDATE", "RETURN NULL;"), "of 32 plants that were confirmed, 0 were reported instead of 32."],
  [
    "finds fewer by their words",
    triggerOn("INSERT", "IF NEW.id > 0 THEN NEW.words = ''; END IF; RETURN NEW;"),
    "of 32 plants that were to be listed by word, in order, 16 were, or in another order.",
  ],
  ["deletes nothing", triggerOn("DELETE", "RETURN NULL;"), "of 32 plants that were deleted, 0 were reported instead of 32."],
  ["fails", triggerOn("DELETE", "RAISE EXCEPTION 'no deletes here';"), "no deletes here"],
];

const RISING = 20_000;

/** A database with the tables of the store and one plant, and what then was made of it. */
async function makeDatabase(sql: readonly string[] = []): Promise<string> {
  const url = await (await sharedCluster()).createDatabase();
  await (await openStore(url)).close();
  for (const statement of ["INSERT INTO plants (id, name, words) VALUES (1, 'there', 'there')", ...sql]) await queryOnce(url, statement);
  return url;
}

async function expectUntouched(url: string): Promise<void> {
  expect(await queryOnce(url, "SELECT id, name FROM plants ORDER BY id")).toEqual([{ id: "1", name: "there" }]);
}

describe("a start", () => {
  it("leaves a database that behaves as it was, and says nothing", async () => {
    const url = await makeDatabase();
    const log = openLog();
    await (await openStore(url, { log })).close();
    await expectUntouched(url);
    expect(log.lines.filter((line) => line.includes("probe"))).toEqual([]);
  });

  for (const [what, sql, seen] of MISBEHAVIOUR) {
    it(`refuses a database that ${what}, says what was seen, and leaves nothing behind`, async () => {
      const url = await makeDatabase(sql);
      const reason = String(await rejectionOf(openStore(url)));
      expect(reason).toContain("A probe that leaves nothing behind saw: ");
      expect(reason).toContain(seen);
      await expectUntouched(url);
    });
  }

  for (const [what, { text }, instead, says] of [
    ["reads from a standby", FIND_READER, "SELECT 'on'", "sends reads to a standby, which may not have yet what was answered."],
    ["lends connections and passes on the numbers of the server", FIND_AGE, "SELECT 60000::bigint", "lends connections, and hides it."],
  ] as const)
    it(`refuses a pooler that ${what}, with what to do`, async () => {
      const server = await sharedCluster();
      const pooler = await startRewriter(server, text, instead);
      const reason = String(await rejectionOf(openStore(pooler.url(await server.createDatabase()))));
      expect(reason).toContain(`${says} Connect to PostgreSQL itself, or use PgBouncer.`);
      await pooler.stop();
    });

  it("leaves nothing in the index of ids that keeps its pages half empty when ids rise", async () => {
    const url = await makeDatabase([
      "ALTER TABLE plants SET (autovacuum_enabled = off)",
      `INSERT INTO plants (id, name, words) SELECT id, 'x', 'x' FROM generate_series(2, ${RISING}) AS ids (id)`,
    ]);
    const [row] = await queryOnce(url, "SELECT pg_relation_size('plants_pkey') AS bytes");
    expect(Number(row!["bytes"]) / RISING).toBeLessThan(30);
  });

  it("serves a database that takes no changes now, and says that it was not tried", async () => {
    const url = await makeDatabase();
    await queryOnce(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET default_transaction_read_only = on`);
    const log = openLog();
    await (await openStore(url, { log })).close();
    expect(log.lines.some((line) => line.includes('"event":"probe_failed"'))).toBe(true);
  });
});

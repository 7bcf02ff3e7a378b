import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { runCheck } from "../support/checked.ts";
import { runCommand } from "../support/process.ts";
import { needsThat } from "../support/program.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openStore, serveOn } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

const PLANTS = 3000;
const server = await sharedCluster();
const [amcheck] = await server.query("SELECT FROM pg_available_extensions WHERE name = 'amcheck'");
const database = await server.createDatabase();
const data = join(temporaryFolder(), "data");

function check(words: readonly string[] = [], on = database) {
  return runCheck(["--data", data, ...words], { environment: { PLANT_STORE_DATABASE: on } });
}

/** Parts and states of what is not as it should be. */
async function statesOf(): Promise<string[]> {
  const { stdout } = await check();
  const lines = stdout.split("\n").filter((line) => line !== "" && !line.startsWith("ok "));
  return lines.map((line) => line.slice(0, 16).trim().replace(/ +/, " "));
}

async function contents(): Promise<unknown> {
  return queryOnce(database, "SELECT id, name, tag, added, words, name_key FROM plants ORDER BY id");
}

beforeAll(async () => {
  await (await serveOn(database, { data })).end("SIGTERM");
  const rows = Array.from({ length: PLANTS }, (_, at) => `{"id":${at - 5},"name":"Ficus ${at} \\u0000\\u0001","tag":"tag ${at % 7}"}\n`);
  const file = join(temporaryFolder(), "plants.ndjson");
  await Bun.write(file, rows.join(""));
  expect((await runCommand(["import", file, "--data", data, "--database", database])).status).toBe(0);
});

describe("plant-store check on PostgreSQL", () => {
  it("says that a store is sound, also while a service writes, and changes nothing", async () => {
    const before = await contents();
    const { status, stdout, stderr } = await check();
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const parts = stdout.split("\n").map((line) => line.slice(0, 16).trim().replace(/ +/, " "));
    expect(parts).toEqual(["ok tables", "ok indexes", "ok tokens", "ok plants", "ok search", ""]);
    expect(await contents()).toEqual(before);
    const [renaming] = await Promise.all([
      renameFor(1000),
      check().then((found) => expect(found).toMatchObject({ status: 0, stderr: "" })),
    ]);
    expect(renaming).toBeGreaterThan(0);
  });

  it("finds indexes that are gone or not valid, and plants that were changed by hand, and --repair makes all again", async () => {
    await queryOnce(database, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'plants_by_tag'::regclass");
    await queryOnce(database, "DROP INDEX plants_by_name");
    await queryOnce(database, "UPDATE plants SET name = 'Acer' WHERE id = 7");
    await queryOnce(database, "UPDATE plants SET words = 'rosa' WHERE id = 8");
    await queryOnce(database, "UPDATE plants SET name_key = '\\x00' WHERE id = 9");
    const { status, stdout, stderr } = await check();
    expect([status, stderr]).toEqual([1, expect.stringContaining("run plant-store check --repair")]);
    expect(stdout).toContain("wrong   indexes plants_by_name is missing, plants_by_tag is not valid\n");
    expect(stdout).toMatch(/^wrong   search  .*: 7, 8, 9$/m);
    const repaired = await check(["--repair"]);
    expect([repaired.status, repaired.stdout]).toEqual([0, expect.stringContaining("Repaired. Checking again:\nok ")]);
  });

  it("names five of the plants that were changed by hand, and counts the others", async () => {
    await queryOnce(database, "UPDATE plants SET words = 'rosa' WHERE id BETWEEN 10 AND 17");
    expect((await check()).stdout).toMatch(/: 10, 11, 12, 13, 14 and 3 more$/m);
    expect((await check(["--repair"])).status).toBe(0);
  });

  it("says what someone has made of the tables, with the statements that undo it, and only notes triggers, constraints and rights", async () => {
    const url = await server.createDatabase();
    await (await openStore(url)).close();
    const changes = [
      "ALTER TABLE plants ALTER tag TYPE char(12)",
      "ALTER TABLE plants ALTER added DROP DEFAULT",
      "ALTER TABLE plants DROP CONSTRAINT plants_pkey",
    ];
    for (const change of changes) await queryOnce(url, change);
    const { status, stdout, stderr } = await check([], url);
    expect([status, stderr]).toEqual([1, expect.stringContaining("Do what is said above")]);
    const [said = ""] = stdout.split("\n").filter((line) => line.startsWith("wrong "));
    expect(said).toStartWith("wrong   columns ");
    expect(said).toContain("plants.tag is character(12)");
    for (const statement of Array.from(said.matchAll(/: (ALTER TABLE .*?)(?=, plants|$)/g), ([, one]) => one!))
      await queryOnce(url, statement);
    expect(await check([], url)).toMatchObject({ status: 0, stderr: "" });
    await queryOnce(url, "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'");
    await queryOnce(url, "CREATE TRIGGER audit BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION audit()");
    await queryOnce(url, "ALTER TABLE plants ADD CONSTRAINT no_weeds CHECK (name <> 'weed')");
    const reader = `reader_${crypto.randomUUID().slice(0, 8)}`;
    await queryOnce(url, `CREATE ROLE ${reader} LOGIN`);
    await queryOnce(url, `GRANT SELECT ON plants, tokens, plant_store_schema TO ${reader}`);
    const noted = await check([], Object.assign(new URL(url), { username: reader }).href);
    await queryOnce(url, `DROP OWNED BY ${reader}; DROP ROLE ${reader}`);
    expect(noted.status).toBe(0);
    expect(noted.stdout).toMatch(/^note +columns +constraints and triggers may refuse or change plants: audit, no_weeds$/m);
    expect(noted.stdout).toMatch(/^note +columns +this user may not change plants and tokens/m);
  });

  it("removes what a REINDEX that was killed has left", async () => {
    await queryOnce(database, "CREATE INDEX plants_by_tag_ccnew1 ON plants (tag)");
    await queryOnce(database, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'plants_by_tag_ccnew1'::regclass");
    expect(await statesOf()).toEqual(["wrong indexes"]);
    expect((await check(["--repair"])).status).toBe(0);
    expect(await queryOnce(database, "SELECT FROM pg_class WHERE relname LIKE '%ccnew%'")).toEqual([]);
  });

  it("only notes an index that someone builds now", async () => {
    const writer = new Client({ connectionString: database });
    await writer.connect();
    await writer.query("BEGIN; UPDATE plants SET tag = tag WHERE id = 8");
    const building = queryOnce(database, "CREATE INDEX CONCURRENTLY mine ON plants (tag)");
    await until("The build waits", async () => (await queryOnce(database, "SELECT FROM pg_stat_progress_create_index")).length > 0);
    const { status, stdout } = await check();
    await writer.end();
    await building;
    await queryOnce(database, "DROP INDEX mine");
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^note    indexes one is being built, .*mine is not valid$/m)]);
  });

  it("only notes damaged pages that the server has found once, but that no one meets now", async () => {
    const inCatalog = (sql: string) => queryOnce(database, `SET allow_system_table_mods = on; ${sql}`);
    await inCatalog(
      `ALTER VIEW pg_catalog.pg_stat_database RENAME TO true_stat_database;
      CREATE VIEW pg_catalog.pg_stat_database AS SELECT current_database() AS datname, 3::bigint AS checksum_failures`,
    );
    const { status, stdout } = await check();
    await inCatalog("DROP VIEW pg_catalog.pg_stat_database; ALTER VIEW pg_catalog.true_stat_database RENAME TO pg_stat_database");
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^note    pages   the server has found 3 damaged pages: .*pg_stat_reset/m)]);
  });

  needsThat("amcheck of the package postgresql", amcheck !== undefined).it(
    "finds with amcheck that an index lacks rows of its table, and --repair makes it again",
    async () => {
      await queryOnce(database, "CREATE EXTENSION amcheck");
      const ready = (isReady: boolean) =>
        queryOnce(database, `UPDATE pg_index SET indisready = ${isReady} WHERE indexrelid = 'plants_by_newest'::regclass`);
      await ready(false);
      await queryOnce(
        database,
        "INSERT INTO plants (id, name, words, name_key) SELECT 90001, name, words, name_key FROM plants WHERE id = 8",
      );
      await ready(true);
      expect(await statesOf()).toEqual(["wrong indexes"]);
      expect((await check(["--repair"])).status).toBe(0);
      expect((await check()).stdout).toContain("compared with their tables");
    },
  );

  it("notes plants that a replica of a version before has left without a place", async () => {
    await queryOnce(database, "UPDATE plants SET name_key = NULL WHERE id = 7");
    expect(await statesOf()).toEqual(["note search"]);
  });

  it("finds a token that no one could have made, and repairs nothing then", async () => {
    await queryOnce(database, "UPDATE tokens SET scopes = 'all'");
    expect(await statesOf()).toEqual(["damaged tokens", "note search"]);
    expect(await check(["--repair"])).toMatchObject({ status: 1, stderr: expect.stringContaining("only a backup has") });
    await queryOnce(database, "UPDATE tokens SET scopes = 'admin'");
  });

  it("refuses a database without a store, one of a newer version, and one that is away, in words, and makes none", async () => {
    const empty = await server.createDatabase();
    expect(await check([], empty)).toMatchObject({ status: 1, stderr: expect.stringContaining("There is no store in this database") });
    expect(await queryOnce(empty, "SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
    await queryOnce(database, "UPDATE plant_store_schema SET version = 100");
    expect(await check()).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("made by a newer Plant Store: use that"),
    });
    const away = "postgres://plants@127.0.0.1:1/plants";
    expect(await check([], away)).toMatchObject({ status: 1, stderr: expect.stringContaining("Check its address") });
  });
});

/** Renames plants by SQL as the service does, all columns at once, for so many milliseconds. */
async function renameFor(ms: number): Promise<number> {
  const end = performance.now() + ms;
  let renamed = 0;
  for (; performance.now() < end; renamed += 1) {
    const [from, to] = renamed % 2 === 0 ? [1, 2] : [2, 1];
    await queryOnce(
      database,
      `UPDATE plants SET (name, words, name_key) = (SELECT name, words, name_key FROM plants AS other WHERE other.id = ${from}) WHERE id = ${to + 10}`,
    );
  }
  return renamed;
}

afterAll(() => expect(existsSync(join(data, "plants.db"))).toBe(false));

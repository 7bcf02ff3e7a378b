import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { startPatientClock } from "../support/patient-clock.ts";
import { runCommand } from "../support/process.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { openStore, serveOn } from "../support/postgres/store.ts";
import { rejectionOf } from "../support/rejection.ts";
import { killServices } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

afterAll(killServices);

const PASSWORD = "s3cret";
const CREATE_HINT =
  "The user lacks a privilege: grant CREATE on the schema, or SELECT, INSERT, UPDATE and DELETE on tables that exist already.";
const PASSWORD_HINT = "The server refuses the user or the password: check both in PLANT_STORE_DATABASE.";
const TLS_HINT = "Check its certificate, and the host, sslmode and sslrootcert in PLANT_STORE_DATABASE.";
const SYNC_HINT =
  ": The database confirms a commit before it syncs it: set synchronous_commit = on for the server, the database or the user.";
const INVALID =
  "The address of the database is invalid: write it as postgres://user:password@host:5432/name, with %40 for an @, %2F for a /, %3F for a ? and %23 for a # in the password.";
const KNOWN =
  "sslmode, ssl, sslrootcert, sslcert, sslkey, sslnegotiation, host, port, user, password, application_name, options, require_auth," +
  " channel_binding, connect_timeout, gssencmode, keepalives, keepalives_count, keepalives_idle, keepalives_interval, pgbouncer, target_session_attrs, tcp_user_timeout";

const cluster = await startCluster();
for (const role of [
  `careful LOGIN PASSWORD '${PASSWORD}'`,
  "resting NOLOGIN",
  "hasty LOGIN",
  "guest LOGIN",
  "crowded LOGIN CONNECTION LIMIT 0",
])
  await cluster.query(`CREATE ROLE ${role}`);
await cluster.query("ALTER ROLE hasty SET synchronous_commit = off");
await askForPassword("careful");

/** The server asks only this user for a password: the first rule that fits counts. */
async function askForPassword(user: string): Promise<void> {
  const [row] = await cluster.query("SHOW hba_file");
  const path = String(row?.["hba_file"]);
  writeFileSync(path, `host all ${user} all scram-sha-256\n${readFileSync(path, "utf8")}`);
  await cluster.query("SELECT pg_reload_conf()");
}

/** The URL of a database for a user, with a password that must not be shown. */
function addressOf(database: string, user = "plants", password = PASSWORD): string {
  return Object.assign(new URL(cluster.url(database)), { username: user, password }).href;
}

/** Why a start is refused. It waits for a server that may come, and for nothing else. */
async function refusalOf(address: string): Promise<string> {
  const clock = startPatientClock();
  const reason = (await rejectionOf(openStore(address))) as Error;
  expect(clock.ms()).toBeLessThan(10_000);
  return reason.message;
}

async function makeDatabase(before = ""): Promise<string> {
  const name = new URL(await cluster.createDatabase()).pathname.slice(1);
  await cluster.query(before.replace("$NAME", name), name);
  return name;
}

describe("a start is refused with one sentence that says what to do and shows no password, by", () => {
  it("status 1", async () => {
    const environment = { PLANT_STORE_DATABASE: addressOf("postgres", "careful", "wr0ng") };
    expect(await runCommand(["serve", "--port", "0", "--data", temporaryFolder()], { environment })).toEqual({
      status: 1,
      stdout: "",
      stderr: `plant-store: PostgreSQL 127.0.0.1:${cluster.port}/postgres cannot be used (password authentication failed for user "careful"). ${PASSWORD_HINT}\n`,
    });
  });

  const cannot = (why: string, hint: string) => ` cannot be used (${why}). ${hint}`;
  const RESTS = cannot('role "resting" is not permitted to log in', PASSWORD_HINT);
  const NO_PASSWORD = cannot("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string", PASSWORD_HINT);
  const READ_ONLY = "It is read-only: name the primary, or end its read-only mode.";
  const NEWER = "CREATE TABLE plant_store_schema (id BIGINT PRIMARY KEY, version BIGINT); INSERT INTO plant_store_schema VALUES (1, 99)";
  for (const [what, before, says, user, password] of [
    ["a password that is missing", "", NO_PASSWORD, "careful", ""],
    ["a user who may not log in", "", RESTS, "resting"],
    ["a user who may not create tables", "", cannot("permission denied for schema public", CREATE_HINT), "guest"],
    ["a database that answers before it syncs", "ALTER DATABASE $NAME SET synchronous_commit = off", SYNC_HINT],
    ["a user for whom it answers before it syncs", "", SYNC_HINT, "hasty"],
    [
      "a database that is read-only",
      "ALTER DATABASE $NAME SET default_transaction_read_only = on",
      cannot("cannot execute CREATE TABLE in a read-only transaction", READ_ONLY),
    ],
    [
      "a table of another program named plants",
      "CREATE TABLE plants (pot int)",
      ": The database has tables named plants or tokens of another program: use a separate database.",
    ],
    [
      "a search path without a schema",
      "ALTER DATABASE $NAME SET search_path = nowhere",
      ": The search_path of the user names no existing schema: set it, for example to public.",
    ],
    [
      "a schema that no statement could name as it is",
      `CREATE SCHEMA "it's"; ALTER DATABASE $NAME SET search_path = "it's"`,
      `: The schema "it's" has a quote or a backslash in its name: use another one.`,
    ],
    ["a schema that is newer than the program", NEWER, ": The database was made by a newer Plant Store: use that version."],
  ] as const)
    it(what, async () => {
      const name = await makeDatabase(before);
      expect(await refusalOf(addressOf(name, user, password))).toBe(`PostgreSQL 127.0.0.1:${cluster.port}/${name}${says}`);
    });

  const authority = join(temporaryFolder(), "authority.pem");
  const NO_TLS = `(The server does not support SSL connections). ${TLS_HINT}`;
  const NO_DATABASE = `(database "nowhere" does not exist). There is no database of that name: create it, for example with createdb.`;
  const NO_FILE = `(${authority}: there is no such file or folder). ${TLS_HINT}`;
  for (const [what, path, says] of [
    ["a database that does not exist", "nowhere", NO_DATABASE],
    ["no TLS", "postgres?sslmode=verify-full", NO_TLS],
    ["no TLS", "postgres?sslmode=require", NO_TLS],
    ["no TLS", "postgres?sslrootcert=system", NO_TLS],
    ["no TLS", "postgres?channel_binding=require&sslmode=no-verify", NO_TLS],
    ["the file of an authority that is not there", `postgres?sslmode=verify-full&sslrootcert=${authority}`, NO_FILE],
  ] as const)
    it(`${what}: ${path.replace(authority, "…")}`, async () => {
      expect(await refusalOf(addressOf("postgres").replace(/[^/]*$/, path))).toBe(
        `PostgreSQL 127.0.0.1:${cluster.port}/${path.split("?")[0]} cannot be used ${says}`,
      );
    });

  it("a database whose plants a crash would empty", async () => {
    const name = await makeDatabase();
    await (await openStore(cluster.url(name))).close();
    await cluster.query("ALTER TABLE plants SET UNLOGGED", name);
    expect(await refusalOf(cluster.url(name))).toContain("A crash of the database would empty plants");
  });

  for (const [what, settings, says] of [
    ["a server that does not sync its files", { fsync: "off" }, "The database does not sync its files: set fsync = on in postgresql.conf."],
    [
      "a server that writes parts of pages",
      { full_page_writes: "off" },
      "The database cannot repair a page that a power cut tore: set full_page_writes = on in postgresql.conf.",
    ],
    [
      "a server whose standby has a commit in memory when it is answered",
      { synchronous_commit: "remote_write", synchronous_standby_names: "absent" },
      "The database confirms a commit before its standbys have synced it: set synchronous_commit = on, or name no synchronous standbys.",
    ],
  ] as const)
    it(what, async () => {
      const careless = await startCluster({ settings });
      expect(await refusalOf(careless.url())).toBe(`PostgreSQL 127.0.0.1:${careless.port}/postgres: ${says}`);
      await careless.drop();
    });

  const unknown = (option: string) => `The address of the database has an unknown option, ${option}: known are ${KNOWN}.`;
  for (const [address, says] of [
    ["postgres://127.0.0.1/plants?SSLMODE=require", unknown("SSLMODE")],
    ["postgres://127.0.0.1/plants?sslmod=require", unknown("sslmod")],
    ["postgres://127.0.0.1/plants?sslcrl=/etc/crl.pem", unknown("sslcrl")],
    [
      "postgres://127.0.0.1/plants?sslmode=",
      "In the address of the database, sslmode must be one of disable, prefer, require, verify-ca, verify-full, no-verify.",
    ],
    ["postgres://127.0.0.1/plants?ssl=true&sslmode=disable", "The address of the database has ssl and sslmode=disable: leave one out."],
    [
      "postgres://127.0.0.1/plants?target_session_attrs=prefer-standby",
      "In the address of the database, target_session_attrs must be one of any, primary, read-write.",
    ],
    // Unescaped in a password; among the options; a port that is none.
    [`postgres://anna:p@${PASSWORD}@127.0.0.1/plants`, INVALID],
    [`postgres://anna:1/${PASSWORD}@127.0.0.1/plants`, INVALID],
    [`postgres://anna:1#${PASSWORD}@127.0.0.1/plants`, INVALID],
    [`postgres://anna:1?${PASSWORD}=2@127.0.0.1/plants`, INVALID],
    ["postgres://127.0.0.1/plants?application_name=a#b&sslmode=verify-full", INVALID],
    [`postgres://anna:${PASSWORD}@127.0.0.1:99999/plants`, INVALID],
  ] as const)
    it(`the address ${address}`, async () => {
      expect(await refusalOf(address)).toBe(says);
    });
});

it("a start takes an address with all that providers add to it, and serves", async () => {
  const added =
    "sslmode=disable&channel_binding=prefer&application_name=garden&connect_timeout=15&options=-c%20search_path%3Dpublic" +
    "&target_session_attrs=read-write&pgbouncer=true&keepalives=1&gssencmode=disable";
  const store = await openStore(`${await cluster.createDatabase()}?${added}`);
  expect(store.check).not.toThrow();
  await store.close();
});

it("a start finds a server by the folder of its Unix socket, and serves", async () => {
  const name = await makeDatabase();
  const [row] = await cluster.query("SHOW unix_socket_directories");
  const address = `postgres://plants:${PASSWORD}@/${name}?host=${String(row!["unix_socket_directories"])}&port=${cluster.port}`;
  const store = await openStore(address);
  expect(await cluster.query(`SELECT DISTINCT client_addr FROM pg_stat_activity WHERE datname = '${name}'`)).toEqual([
    { client_addr: null },
  ]);
  await store.close();
});

describe("a start on existing tables", () => {
  it("needs no more than SELECT, INSERT, UPDATE and DELETE on them", async () => {
    const name = await makeDatabase();
    const first = await serveOn(cluster.url(name));
    await first.end("SIGTERM");
    await cluster.query("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest", name);
    // Only the owner of a table may make them.
    await cluster.query("DROP STATISTICS plants_of_tag", name);
    // Usually everyone may read it.
    await cluster.query("REVOKE SELECT ON pg_stat_activity FROM PUBLIC", name);

    const { statusOf, end } = await serveOn(addressOf(name, "guest"), { data: first.data, flags: ["--queue-wait-ms", "10000"] });
    expect([
      await statusOf("POST", "/plants", '{"id":1,"name":"Ficus"}'),
      await statusOf("PUT", "/plants/1", '{"name":"Ficus carica"}'),
      await statusOf("GET", "/plants?q=carica"),
      await statusOf("DELETE", "/plants/1"),
      await statusOf("GET", "/readyz"),
    ]).toEqual([200, 200, 200, 204, 200]);
    expect(await end("SIGTERM")).toBe(0);
  });

  const startAndStop = async (name: string) => (await openStore(cluster.url(name))).close();

  it("finds them behind other tables of the same names, and those are left alone", async () => {
    const name = await makeDatabase();
    await startAndStop(name);
    await cluster.query(`CREATE SCHEMA "Gärten $& 1"; CREATE TABLE "Gärten $& 1".plants (pot int)`, name);
    await cluster.query(`ALTER DATABASE "${name}" SET search_path = "Gärten $& 1", public`);
    await startAndStop(name);
    // Without a store there, the first schema gets one.
    await cluster.query(`DROP TABLE "Gärten $& 1".plants, public.plants, public.tokens, public.plant_store_schema`, name);
    await startAndStop(name);
    expect(await cluster.query("SELECT schemaname FROM pg_tables WHERE tablename = 'plants'", name)).toEqual([
      { schemaname: "Gärten $& 1" },
    ]);
  });

  it("waits for no VACUUM, but makes its statistics once there is none", async () => {
    const name = await makeDatabase();
    const vacuum = new Client({ connectionString: cluster.url(name) });
    const statistics = async () => (await vacuum.query("SELECT FROM pg_statistic_ext")).rowCount;
    await startAndStop(name);
    await vacuum.connect();
    await vacuum.query("DROP STATISTICS plants_of_tag");
    await vacuum.query("BEGIN; LOCK TABLE plants IN SHARE UPDATE EXCLUSIVE MODE");
    await startAndStop(name);
    expect(await statistics()).toBe(0);
    await vacuum.query("COMMIT");
    await startAndStop(name);
    expect(await statistics()).toBe(1);
    await vacuum.query("BEGIN; LOCK TABLE plants IN SHARE UPDATE EXCLUSIVE MODE");
    await startAndStop(name);
    await vacuum.end();
  });
});

it("a command says it when the user may have no more connections", async () => {
  const name = await makeDatabase();
  const { status, stderr } = await runCommand(["check", "--data", temporaryFolder()], {
    environment: { PLANT_STORE_DATABASE: addressOf(name, "crowded") },
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining("raise max_connections or the CONNECTION LIMIT of the user.")]);
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { Client } from "pg";
import { startPatientClock } from "../support/patient-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand, startProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { startCluster } from "../support/postgres/cluster.ts";

const PASSWORD = "s3cret";
const CREATE_HINT =
  "The user lacks a privilege: grant CREATE on the schema, or SELECT, INSERT, UPDATE and DELETE on tables that exist already.";
const PASSWORD_HINT = "The server refuses the user or the password: check both in PLANT_STORE_DATABASE.";

const cluster = await startCluster();
await cluster.query(`CREATE ROLE careful LOGIN PASSWORD '${PASSWORD}'`);
await cluster.query("CREATE ROLE resting NOLOGIN");
await cluster.query("CREATE ROLE hasty LOGIN");
await cluster.query("ALTER ROLE hasty SET synchronous_commit = off");
await cluster.query("CREATE ROLE guest LOGIN");
await cluster.query("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0");
await askForPassword("careful");

/** The server asks only this user for a password: the first rule that fits counts. */
async function askForPassword(user: string): Promise<void> {
  const [row] = await cluster.query("SHOW hba_file");
  const path = String(row?.["hba_file"]);
  writeFileSync(path, `host all ${user} all scram-sha-256\n${readFileSync(path, "utf8")}`);
  await cluster.query("SELECT pg_reload_conf()");
}

/** The URL of a database for a user, with a password that must not be shown. */
function addressOf(database: string, { user = "plants", password = PASSWORD } = {}): string {
  const address = new URL(cluster.url(database));
  Object.assign(address, { username: user, password });
  return address.href;
}

function serve(database: string) {
  return runCommand(["serve", "--port", "0", "--data", temporaryFolder()], { environment: { PLANT_STORE_DATABASE: database } });
}

describe("a start is refused, with status 1 and one sentence that says what to do and shows no password, by", () => {
  for (const { what, before = "", user = "plants", password = PASSWORD, says } of [
    {
      what: "a password that is wrong",
      user: "careful",
      password: "wr0ng",
      says: ` cannot be used (password authentication failed for user "careful"). ${PASSWORD_HINT}`,
    },
    {
      what: "a password that is missing",
      user: "careful",
      password: "",
      says: ` cannot be used (SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string). ${PASSWORD_HINT}`,
    },
    {
      what: "a user who may not log in",
      user: "resting",
      says: ` cannot be used (role "resting" is not permitted to log in). ${PASSWORD_HINT}`,
    },
    {
      what: "a user who may not create tables",
      user: "guest",
      says: ` cannot be used (permission denied for schema public). ${CREATE_HINT}`,
    },
    {
      what: "a database that answers before it syncs",
      before: "ALTER DATABASE $NAME SET synchronous_commit = off",
      says: ": The database confirms a commit before it syncs it: set synchronous_commit = on for the server, the database or the user.",
    },
    {
      what: "a user for whom it answers before it syncs",
      user: "hasty",
      says: ": The database confirms a commit before it syncs it: set synchronous_commit = on for the server, the database or the user.",
    },
    {
      what: "a database that is read-only",
      before: "ALTER DATABASE $NAME SET default_transaction_read_only = on",
      says:
        " cannot be used (cannot execute CREATE TABLE in a read-only transaction)." +
        " It is read-only: name the primary, or end its read-only mode.",
    },
    {
      what: "a table of another program named plants",
      before: "CREATE TABLE plants (pot int)",
      says: ": The database has tables named plants or tokens of another program: use a separate database.",
    },
    {
      what: "a search path without a schema",
      before: "ALTER DATABASE $NAME SET search_path = nowhere",
      says: ": The search_path of the user names no existing schema: set it, for example to public.",
    },
    {
      what: "a schema that no statement could name as it is",
      before: `CREATE SCHEMA "it's"; ALTER DATABASE $NAME SET search_path = "it's"`,
      says: `: The schema "it's" has a quote or a backslash in its name: use another one.`,
    },
    {
      what: "a schema that is newer than the program",
      before:
        "CREATE TABLE plant_store_schema (id BIGINT PRIMARY KEY, version BIGINT NOT NULL); INSERT INTO plant_store_schema VALUES (1, 99)",
      says: ": The database was made by a newer Plant Store: use that version.",
    },
  ]) {
    it(what, async () => {
      const name = new URL(await cluster.createDatabase()).pathname.slice(1);
      await cluster.query(before.replace("$NAME", name), name);
      const { status, stdout, stderr } = await serve(addressOf(name, { user, password }));
      expect({ status, stdout, stderr }).toEqual({
        status: 1,
        stdout: "",
        stderr: `plant-store: PostgreSQL 127.0.0.1:${cluster.port}/${name}${says}\n`,
      });
    });
  }

  it("a database that does not exist", async () => {
    const { status, stdout, stderr } = await serve(addressOf("nowhere"));
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr:
        `plant-store: PostgreSQL 127.0.0.1:${cluster.port}/nowhere cannot be used (database "nowhere" does not exist).` +
        " There is no database of that name: create it, for example with createdb.\n",
    });
  });

  const authority = join(temporaryFolder(), "authority.pem");
  for (const { what, options, says } of [
    { what: "a server without the TLS that the address asks for", options: "", says: "The server does not support SSL connections" },
    {
      what: "the file of an authority that is not there",
      options: `&sslrootcert=${authority}`,
      says: `${authority}: there is no such file or folder`,
    },
  ]) {
    it(what, async () => {
      const clock = startPatientClock();
      const { status, stdout, stderr } = await serve(`${addressOf("postgres")}?sslmode=verify-full${options}`);
      expect({ status, stdout, stderr }).toEqual({
        status: 1,
        stdout: "",
        stderr:
          `plant-store: PostgreSQL 127.0.0.1:${cluster.port}/postgres cannot be used (${says}).` +
          " Check its certificate, and the host, sslmode and sslrootcert in PLANT_STORE_DATABASE.\n",
      });
      // It waits for a server that may come, and for nothing else.
      expect(clock.ms()).toBeLessThan(10_000);
    });
  }

  it("a database whose plants a crash would empty", async () => {
    const url = await cluster.createDatabase();
    const store = await startProcess({ data: temporaryFolder(), flags: ["--database", url] });
    await store.end("SIGTERM");
    const name = new URL(url).pathname.slice(1);
    await cluster.query("ALTER TABLE plants SET UNLOGGED", name);
    const { status, stderr } = await serve(url);
    expect([status, stderr]).toEqual([1, expect.stringContaining("A crash of the database would empty plants")]);
  });

  for (const { what, settings, says } of [
    {
      what: "a server that does not sync its files",
      settings: { fsync: "off" },
      says: "The database does not sync its files: set fsync = on in postgresql.conf.",
    },
    {
      what: "a server that writes parts of pages",
      settings: { full_page_writes: "off" },
      says: "The database cannot repair a page that a power cut tore: set full_page_writes = on in postgresql.conf.",
    },
    {
      what: "a server whose standby has a commit in memory when it is answered",
      settings: { synchronous_commit: "remote_write", synchronous_standby_names: "nobody" },
      says:
        "The database confirms a commit before its standbys have synced it:" +
        " set synchronous_commit = on, or name no synchronous standbys.",
    },
  ]) {
    it(what, async () => {
      const careless = await startCluster({ settings });
      const { status, stdout, stderr } = await serve(careless.url());
      expect({ status, stdout, stderr }).toEqual({
        status: 1,
        stdout: "",
        stderr: `plant-store: PostgreSQL 127.0.0.1:${careless.port}/postgres: ${says}\n`,
      });
    });
  }

  const KNOWN =
    "sslmode, ssl, sslrootcert, sslcert, sslkey, sslnegotiation, host, port, user, password, application_name, options, require_auth," +
    " channel_binding, connect_timeout, gssencmode, keepalives, keepalives_count, keepalives_idle, keepalives_interval, pgbouncer, target_session_attrs, tcp_user_timeout";
  for (const { option, says } of [
    { option: "SSLMODE=require", says: `The address of the database has an unknown option, SSLMODE: known are ${KNOWN}.` },
    { option: "sslmod=require", says: `The address of the database has an unknown option, sslmod: known are ${KNOWN}.` },
    { option: "sslcrl=/etc/crl.pem", says: `The address of the database has an unknown option, sslcrl: known are ${KNOWN}.` },
    {
      option: "sslmode=",
      says: "In the address of the database, sslmode must be one of disable, prefer, require, verify-ca, verify-full, no-verify.",
    },
    { option: "ssl=true&sslmode=disable", says: "The address of the database has ssl and sslmode=disable: leave one out." },
    {
      option: "target_session_attrs=prefer-standby",
      says: "In the address of the database, target_session_attrs must be one of any, primary, read-write.",
    },
  ]) {
    it(`an address with ${option}`, async () => {
      const { status, stdout, stderr } = await serve(`${cluster.url("postgres")}?${option}`);
      expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: "", stderr: `plant-store: ${says}\n` });
    });
  }

  for (const option of ["sslmode=require", "sslrootcert=system", "channel_binding=require&sslmode=no-verify"]) {
    it(`a server that cannot encrypt, where the address has ${option}`, async () => {
      const { status, stderr } = await serve(`${cluster.url("postgres")}?${option}`);
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/^plant-store: .* \(The server does not support SSL connections\)\. .*\n$/),
      ]);
    });
  }

  for (const { what, address } of [
    { what: "a URL with an unescaped @ in its password", address: `postgres://anna:p@${PASSWORD}@127.0.0.1/plants` },
    { what: "a URL with an unescaped / in its password", address: `postgres://anna:1/${PASSWORD}@127.0.0.1/plants` },
    { what: "a URL with an unescaped # behind digits in its password", address: `postgres://anna:1#${PASSWORD}@127.0.0.1/plants` },
    { what: "a URL with an unescaped ? behind digits in its password", address: `postgres://anna:1?${PASSWORD}=2@127.0.0.1/plants` },
    { what: "an address with a # among its options", address: "postgres://127.0.0.1/plants?application_name=a#b&sslmode=verify-full" },
    { what: "an address with a port that is none", address: `postgres://anna:${PASSWORD}@127.0.0.1:99999/plants` },
  ]) {
    it(what, async () => {
      const { status, stdout, stderr } = await serve(address);
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toBe(
        "plant-store: The address of the database is invalid: write it as postgres://user:password@host:5432/name, with %40 for an @, %2F for a /, %3F for a ? and %23 for a # in the password.\n",
      );
    });
  }
});

it("a start takes an address with all that providers add to it, and serves", async () => {
  const added =
    "sslmode=disable&channel_binding=prefer&application_name=garden&connect_timeout=15&options=-c%20search_path%3Dpublic" +
    "&target_session_attrs=read-write&pgbouncer=true&keepalives=1&gssencmode=disable";
  const service = await startProcess({ data: temporaryFolder(), flags: ["--database", `${await cluster.createDatabase()}?${added}`] });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect(await service.end("SIGTERM")).toBe(0);
});

it("a start finds a server by the folder of its Unix socket, and serves", async () => {
  const name = new URL(await cluster.createDatabase()).pathname.slice(1);
  const [row] = await cluster.query("SHOW unix_socket_directories");
  const address = `postgres://plants:${PASSWORD}@/${name}?host=${String(row!["unix_socket_directories"])}&port=${cluster.port}`;
  const service = await startProcess({ data: temporaryFolder(), flags: ["--database", address] });
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect(await cluster.query(`SELECT DISTINCT client_addr FROM pg_stat_activity WHERE datname = '${name}'`)).toEqual([
    { client_addr: null },
  ]);
  expect(await service.end("SIGTERM")).toBe(0);
});

describe("a start on existing tables", () => {
  it("needs no more than SELECT, INSERT, UPDATE and DELETE on them", async () => {
    const name = new URL(await cluster.createDatabase()).pathname.slice(1);
    const data = temporaryFolder();
    await (await startProcess({ data, flags: ["--database", cluster.url(name)] })).end("SIGTERM");
    await cluster.query("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest", name);
    // Only the owner of a table may make them.
    await cluster.query("DROP STATISTICS plants_of_tag", name);
    // Usually everybody may read it.
    await cluster.query("REVOKE SELECT ON pg_stat_activity FROM PUBLIC", name);

    const service = await startProcess({ data, flags: ["--database", addressOf(name, { user: "guest" }), "--queue-wait-ms", "10000"] });
    const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
    const statuses: number[] = [];
    for (const { method, path, body } of [
      { method: "POST", path: "/plants", body: '{"id":1,"name":"Ficus"}' },
      { method: "PUT", path: "/plants/1", body: '{"name":"Ficus carica"}' },
      { method: "GET", path: "/plants?q=carica" },
      { method: "DELETE", path: "/plants/1" },
      { method: "GET", path: "/readyz" },
    ]) {
      statuses.push((await fetch(`${service.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 204, 200]);
    expect(await service.end("SIGTERM")).toBe(0);
  });

  it("finds them behind other tables of the same names, and those are left alone", async () => {
    const name = new URL(await cluster.createDatabase()).pathname.slice(1);
    const data = temporaryFolder();
    await (await startProcess({ data, flags: ["--database", cluster.url(name)] })).end("SIGTERM");
    await cluster.query(`CREATE SCHEMA "Gärten $& 1"; CREATE TABLE "Gärten $& 1".plants (pot int)`, name);
    await cluster.query(`ALTER DATABASE "${name}" SET search_path = "Gärten $& 1", public`);
    const service = await startProcess({ data, flags: ["--database", cluster.url(name)] });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await service.end("SIGTERM");
    // Without a store there, the first schema gets one.
    await cluster.query(`DROP TABLE "Gärten $& 1".plants, public.plants, public.tokens, public.plant_store_schema`, name);
    await (await startProcess({ data: temporaryFolder(), flags: ["--database", cluster.url(name)] })).end("SIGTERM");
    expect(await cluster.query("SELECT schemaname FROM pg_tables WHERE tablename = 'plants'", name)).toEqual([
      { schemaname: "Gärten $& 1" },
    ]);
  });

  it("waits for no VACUUM, but makes its statistics once there is none", async () => {
    const database = await cluster.createDatabase();
    const data = temporaryFolder();
    const startAndStop = async () => (await startProcess({ data, flags: ["--database", database] })).end("SIGTERM");
    const vacuum = new Client({ connectionString: database });
    const statistics = async () => (await vacuum.query("SELECT FROM pg_statistic_ext")).rowCount;
    expect(await startAndStop()).toBe(0);
    await vacuum.connect();
    await vacuum.query("DROP STATISTICS plants_of_tag");
    await vacuum.query("BEGIN; LOCK TABLE plants IN SHARE UPDATE EXCLUSIVE MODE");
    expect(await startAndStop()).toBe(0);
    expect(await statistics()).toBe(0);
    await vacuum.query("COMMIT");
    expect(await startAndStop()).toBe(0);
    expect(await statistics()).toBe(1);
    await vacuum.query("BEGIN; LOCK TABLE plants IN SHARE UPDATE EXCLUSIVE MODE");
    expect(await startAndStop()).toBe(0);
    await vacuum.end();
  });
});

it("a command says it when the user may have no more connections", async () => {
  const name = new URL(await cluster.createDatabase()).pathname.slice(1);
  const { status, stderr } = await runCommand(["check", "--data", temporaryFolder()], {
    environment: { PLANT_STORE_DATABASE: addressOf(name, { user: "crowded" }) },
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining("raise max_connections or the CONNECTION LIMIT of the user.")]);
});

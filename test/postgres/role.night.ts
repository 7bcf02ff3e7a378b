import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { parse } from "yaml";
import { STEPS } from "../../src/store/postgres/engine/schema.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { inPublic, queryOnce } from "../support/postgres/database-server.ts";
import { PROJECT, runCommand } from "../support/process.ts";
import { serveOn } from "../support/postgres/store.ts";
import { killServices, PATIENT } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What a superuser of a new database does before the first start, as the PostgreSQL of compose.yaml and the guide do. */
const PREPARATION = readFileSync(join(PROJECT, "deploy/database.sql"), "utf8")
  .replaceAll(/^(--|\\).*\n/gm, "")
  .replace(":'password'", "'s3cret'");
const GRANT = "GRANT CREATE ON SCHEMA public TO plants";

const cluster = await startCluster();
// The superuser of the tests has the name that the service's user has here.
await cluster.query("CREATE ROLE postgres SUPERUSER LOGIN");
const asSuperuser = (url: string) => Object.assign(new URL(url), { username: "postgres" }).href;
await queryOnce(asSuperuser(cluster.url()), "ALTER ROLE plants RENAME TO first");
afterAll(killServices);

let isPrepared = false;

async function makeDatabase(): Promise<{ superuser: string; service: string }> {
  const name = `plants_${crypto.randomUUID().replaceAll("-", "")}`;
  await queryOnce(asSuperuser(cluster.url()), `CREATE DATABASE "${name}"`);
  const superuser = asSuperuser(cluster.url(name));
  await queryOnce(superuser, isPrepared ? GRANT : PREPARATION);
  isPrepared = true;
  return { superuser, service: cluster.url(name) };
}

function run(words: readonly string[], database: string) {
  return runCommand([...words, "--data", temporaryFolder()], { environment: { PLANT_STORE_DATABASE: database } });
}

const start = (database: string) => serveOn(database, { flags: PATIENT });

describe("the user of the database that compose.yaml and the guide make", () => {
  it("owns nothing, and may do nothing else, before the first start", async () => {
    const { superuser } = await makeDatabase();
    expect(PREPARATION).toContain(GRANT);
    const rights = `rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls OR has_database_privilege(oid, current_database(), 'CREATE')
      OR EXISTS (SELECT FROM pg_auth_members WHERE member = oid)`;
    expect(await queryOnce(superuser, `SELECT ${rights} AS may FROM pg_roles WHERE rolname = 'plants'`)).toEqual([{ may: false }]);
    expect(
      await queryOnce(
        superuser,
        "SELECT FROM pg_shdepend JOIN pg_roles ON pg_roles.oid = refobjid WHERE rolname = 'plants' AND deptype = 'o'",
      ),
    ).toEqual([]);
    const { services } = parse(readFileSync(join(PROJECT, "deploy/compose.yaml"), "utf8"), { merge: true });
    expect(services.database.environment).not.toHaveProperty("POSTGRES_USER");
    expect(services.database.volumes).toContain("./database.sql:/docker-entrypoint-initdb.d/database.sql:ro");
    expect(services["plants-1"].environment.PLANT_STORE_DATABASE).toStartWith("postgres://plants:");
    expect(readFileSync(join(PROJECT, "docs/how-to/run-replicas.md"), "utf8")).toContain(`psql --command='${GRANT}' plants\n`);
  });

  it("is enough for a first start, all work, a check that repairs, a backup, and its restore into another database", async () => {
    const [first, second] = [await makeDatabase(), await makeDatabase()];
    const service = await start(first.service);
    const statuses: number[] = [];
    for (const [method, path, body] of [
      ["POST", "/plants", '{"id":1,"name":"Rosa","tag":"red"}'],
      ["PUT", "/plants/2", '{"name":"Acer"}'],
      ["DELETE", "/plants/2"],
      ["GET", "/plants?q=ros&sort=name"],
      ["GET", "/tags"],
      ["GET", "/plants/export"],
      ["POST", "/tokens", '{"name":"another","scopes":["plants:read"]}'],
      ["GET", "/readyz"],
    ] as const)
      statuses.push(await service.statusOf(method, path, body));
    expect(statuses).toEqual([200, 201, 204, 200, 200, 200, 200, 200]);
    expect(service.lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
    // What a repair makes again.
    await queryOnce(
      first.superuser,
      "DROP INDEX plants_by_word; UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'plants_by_name'::regclass",
    );
    const backup = join(temporaryFolder(), "backup");
    const done = [
      await run(["check", "--repair"], first.service),
      await run(["check"], first.service),
      await run(["backup", backup], first.service),
      await run(["restore", backup], second.service),
      await run(["check"], second.service),
    ];
    expect(done.map(({ status, stderr }) => (status === 0 ? 0 : stderr))).toEqual([0, 0, 0, 0, 0]);
    expect(done[1]!.stdout).not.toMatch(/^wrong/m);
    expect((await run(["export", "--format", "csv"], second.service)).stdout).toBe("id,name,tag\n1,Rosa,red\n");
    expect(await service.end("SIGTERM")).toBe(0);
  });

  it("is enough for an upgrade of tables that it made in an older version", async () => {
    const { service: database } = await makeDatabase();
    for (const { text } of STEPS.slice(0, 5)) await queryOnce(database, inPublic(text));
    await queryOnce(
      database,
      "CREATE TABLE plant_store_schema (id BIGINT PRIMARY KEY, version BIGINT NOT NULL); INSERT INTO plant_store_schema VALUES (1, 5)",
    );
    await queryOnce(database, "INSERT INTO plants (id, name, words) VALUES (1, 'Rosa', 'rosa')");
    expect(await (await start(database)).end("SIGTERM")).toBe(0);
    expect(await run(["check"], database)).toMatchObject({ status: 0, stdout: expect.not.stringMatching(/^(wrong|damaged)/m) });
  });
});

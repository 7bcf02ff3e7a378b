import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { countCalls, makeHostile } from "../support/postgres/hostile-schema.ts";
import { startPooler } from "../support/postgres/pooler.ts";
import { serveOn } from "../support/postgres/store.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { runCommand } from "../support/process.ts";
import { needs } from "../support/program.ts";
import { killServices, PATIENT } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

/** No bug: each look at the health of the database does all that one in ten does. */
const LOOK_AT_ALL = { file: "src/store/postgres/engine/health.ts", from: "PROBES_A_WRITE = 10", to: "PROBES_A_WRITE = 1" };

const cluster = await startCluster();
const stops: Array<() => Promise<unknown>> = [killServices];
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** An empty database in which `mallory` may create what she likes, and did, before the service came. */
beforeAll(async () => {
  await cluster.query("CREATE ROLE mallory");
  await cluster.query("CREATE ROLE service LOGIN");
  // Even what fits exactly is found in public first.
  await cluster.query("ALTER ROLE service SET search_path = public, pg_catalog");
  const database = await cluster.createDatabase("hostile");
  await queryOnce(
    database,
    "CREATE EXTENSION IF NOT EXISTS amcheck; GRANT EXECUTE ON FUNCTION bt_index_check(regclass, boolean) TO PUBLIC",
  ).catch(() => {});
  await makeHostile(database, "mallory");
  await queryOnce(database, "GRANT CREATE ON SCHEMA public TO service");
});

/** The address of such a database for the service. */
async function makeDatabase(): Promise<string> {
  const url = new URL(await cluster.createDatabase());
  const name = url.pathname.slice(1);
  await cluster.query(`DROP DATABASE "${name}"`);
  await cluster.query(`CREATE DATABASE "${name}" TEMPLATE hostile`);
  return Object.assign(url, { username: "service" }).href;
}

function asSuperuser(database: string): string {
  return database.replace("//service@", "//plants@");
}

/** Starts a service and uses all of it. Resolves with what it refused. */
async function useAll(database: string) {
  const flags = [...PATIENT, "--metrics", "127.0.0.1:0"];
  const service = await serveOn(database, { flags, root: plantBugs([LOOK_AT_ALL]) });
  const refused: string[] = [];
  async function ask(...request: Parameters<typeof service.ask>): Promise<Response> {
    const response = await service.ask(...request);
    if (!response.ok) refused.push(`${request[0]} ${request[1]}: ${response.status} ${await response.clone().text()}`);
    return response;
  }

  for (const id of [1, 1, 2, 2]) await ask("POST", "/plants", `{"id":${id},"name":"Rosa ${id}","tag":"red"}`);
  await ask("POST", "/plants", `{"id":3,"name":"${"Rosa ".repeat(400)}"}`);
  await ask("PATCH", "/plants/1", '{"tag":"white"}');
  await ask("DELETE", "/plants/2");
  for (const mode of ["", "?onConflict=replace", "?dryRun=true"])
    await ask("POST", `/plants/import${mode}`, '{"id":4,"name":"Acer"}\n{"id":5,"name":"Salix","tag":"red"}\n', "application/x-ndjson");
  await ask("POST", "/plants/changes", '{"changes":[{"id":5,"from":{"name":"Salix","tag":"red"},"to":{"name":"Salix alba"}}]}');
  for (const filter of ["", "q=ros", "tag=white", "untagged=true", "q=ros&tag=white", "q=ros&untagged=true"]) {
    for (const sort of ["id", "-id", "name", "-name", "newest", "oldest"]) await ask("GET", `/plants?sort=${sort}&limit=2&${filter}`);
    for (const path of ["/plants/count", "/tags", "/plants/export"]) await ask("GET", `${path}?${filter}`);
  }
  await ask("GET", "/plants/1");
  const { id } = (await (await ask("POST", "/tokens", '{"name":"another","scopes":["plants:read"]}')).json()) as { id: string };
  const page = await ask("GET", "/tokens?limit=1");
  await ask("GET", `/tokens${/<([^>]+)>/.exec(page.headers.get("link")!)![1]}`);
  await ask("DELETE", `/tokens/${id}`);
  await ask("GET", "/readyz");
  expect((await fetch(service.started["metrics"]!)).status).toBe(200);
  expect(refused).toEqual([]);
  return service;
}

describe("where another role has put functions, operators, types and tables of the names that we use into our schema,", () => {
  it("a service calls none of them from its first start on, and says at its start who may create there", async () => {
    const database = await makeDatabase();
    const service = await useAll(database);
    const logged = () => service.lines.filter((line) => /"level":"(warn|error)"/.test(line));
    expect(logged()).toEqual([expect.stringMatching(/"event":"others_may_create","place":"schema public","roles":\["mallory"\]/)]);
    // A look misses only an index that the one before it saw, so each state lasts for longer than from look to look.
    const states = ["DROP INDEX public.plants_by_newest", "CREATE INDEX plants_by_newest ON public.plants (added, id)"];
    await until("An index is missed", async () => {
      await queryOnce(asSuperuser(database), states[0]!);
      states.reverse();
      await sleep(1500);
      return logged().some((line) => line.includes("index_missing"));
    });
    expect(await service.end("SIGTERM")).toBe(0);
    const environment = { PLANT_STORE_DATABASE: database };
    const run = async (words: readonly string[], on = environment) => {
      const { status, stderr, stdout } = await runCommand([...words, "--data", temporaryFolder()], { environment: on });
      return `${words[0]} ${status} ${status === 0 ? "" : stderr + stdout}`.trim();
    };
    const backup = join(temporaryFolder(), "backup");
    const other = await makeDatabase();
    expect([
      await run(["check", "--repair"]),
      await run(["check"]),
      await run(["export", join(temporaryFolder(), "plants.csv")]),
      await run(["token", "list"]),
      await run(["backup", backup]),
      await run(["restore", backup], { PLANT_STORE_DATABASE: other }),
      await run(["check"], { PLANT_STORE_DATABASE: other }),
    ]).toEqual(["check 0", "check 0", "export 0", "token 0", "backup 0", "restore 0", "check 0"]);
    expect([await countCalls(asSuperuser(database)), await countCalls(asSuperuser(other))]).toEqual([0, 0]);
  });

  it("a start names all who may create in a schema of the search path, or triggers on our tables, and no owner", async () => {
    const url = await cluster.createDatabase();
    const database = Object.assign(new URL(url), { username: "gardener" }).href;
    await cluster.query("CREATE ROLE gardener LOGIN; CREATE ROLE guest");
    await queryOnce(url, "ALTER SCHEMA public OWNER TO gardener; CREATE SCHEMA gardener AUTHORIZATION mallory");
    const startOnce = async () => {
      const service = await serveOn(database);
      await service.end("SIGTERM");
      return service.lines.flatMap((line) => /"others_may_create",(.*)\}/.exec(line)?.[1] ?? []);
    };
    expect(await startOnce()).toEqual([]);
    await queryOnce(
      url,
      "GRANT CREATE ON SCHEMA public TO PUBLIC; GRANT USAGE ON SCHEMA gardener TO gardener; GRANT CREATE ON SCHEMA gardener TO guest; GRANT TRIGGER ON tokens TO guest, mallory",
    );
    expect(await startOnce()).toEqual([
      '"place":"schema gardener","roles":["guest"]',
      '"place":"schema public","roles":["PUBLIC"]',
      '"place":"table tokens","roles":["mallory","guest"]',
    ]);
  });

  needs("pgbouncer").it("a service behind PgBouncer calls none of them", async () => {
    const database = await makeDatabase();
    const pooler = await startPooler({ target: cluster, settings: { pool_mode: "transaction" } });
    stops.push(pooler.stop);
    const service = await useAll(pooler.url(database));
    expect(await service.end("SIGTERM")).toBe(0);
    expect(await countCalls(asSuperuser(database))).toBe(0);
  });
});

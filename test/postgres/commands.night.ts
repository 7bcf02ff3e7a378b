import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { withoutSecrets } from "../../src/app/settings.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "../support/process.ts";
import { killServices } from "../support/service-process.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { serveOn } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

const server = await sharedCluster();
const database = await server.createDatabase();
// A busy machine fails no test.
const service = await serveOn(database, { flags: ["--queue-wait-ms", "10000"] });
afterAll(killServices);

const folder = temporaryFolder();
const FILE = join(folder, "plants.csv");
writeFileSync(FILE, "id;tag;name;height\n9223372036854775807;tree;Ginkgo biloba;30\n-5;;Monstera deliciosa;2\n");

/** A command in another folder, which shares nothing with the service but the database. */
function run(words: readonly string[], on = database) {
  return runCommand([...words, "--data", join(folder, "other")], { environment: { PLANT_STORE_DATABASE: on } });
}

const get = async (path: string) => (await service.ask("GET", path)).text();

describe("plant-store import and export, beside a service on the same database", () => {
  it("imports a file whose plants the service returns and finds at once, and exports it again", async () => {
    const imported = await run(["import", FILE]);
    expect(imported).toEqual({
      status: 0,
      stderr: `${FILE}: not imported: the column height\n`,
      stdout: `${FILE}: 2 read, 2 created, 0 unchanged, 0 replaced, 0 refused\n`,
    });
    expect(await get("/plants/9223372036854775807")).toBe('{"id":9223372036854775807,"name":"Ginkgo biloba","tag":"tree"}');
    expect(await get("/plants?q=monst")).toBe('[{"id":-5,"name":"Monstera deliciosa"}]');
    const target = join(folder, "exported.csv");
    expect(await run(["export", target])).toEqual({ status: 0, stdout: `${target}: 1 kB\n`, stderr: "" });
    expect(readFileSync(target, "utf8")).toBe("id,name,tag\n-5,Monstera deliciosa,\n9223372036854775807,Ginkgo biloba,tree\n");
    expect(existsSync(`${target}.part`)).toBe(false);
  });

  it("says that it made a store in an empty database, and only then", async () => {
    const empty = await server.createDatabase();
    const made = `Created a new store in PostgreSQL ${new URL(empty).host}${new URL(empty).pathname}.\n`;
    expect(await run(["import", FILE], empty)).toMatchObject({ status: 0, stderr: expect.stringContaining(made) });
    expect(await run(["import", FILE], empty)).toMatchObject({ status: 0, stderr: expect.not.stringContaining("Created") });
  });

  it("needs no service: a file goes into a new database, and out of it", async () => {
    const fresh = await server.createDatabase();
    expect((await run(["import", FILE], fresh)).status).toBe(0);
    const { status, stdout } = await run(["export", "--format", "csv", "--profile", "dwc"], fresh);
    expect([status, stdout]).toEqual([
      0,
      "catalogNumber,scientificName,tag\n-5,Monstera deliciosa,\n9223372036854775807,Ginkgo biloba,tree\n",
    ]);
  });
});

describe("plant-store token, beside a service on the same database", () => {
  it("waits longer for a busy database than a request would", async () => {
    const name = new URL(database).pathname.slice(1);
    const busy = server.query("BEGIN; LOCK TABLE tokens; SELECT pg_sleep(1.5); COMMIT", name);
    await until("The tokens are locked", async () => {
      const locks = await server.query("SELECT FROM pg_locks WHERE relation = 'tokens'::regclass AND mode = 'AccessExclusiveLock'", name);
      return locks.length > 0;
    });
    expect(await run(["token", "create"])).toMatchObject({ status: 0, stderr: "" });
    await busy;
  });
});

describe("plant-store config", () => {
  it("prints the URL of the database without its password, wherever that is", async () => {
    const address = "postgres://anna:s3cret@one:5432,two:5433/plants?password=s3cret&sslmode=disable";
    const { status, stdout, stderr } = await runCommand(["config"], { environment: { PLANT_STORE_DATABASE: address } });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(
      "\nPLANT_STORE_DATABASE=postgres://anna:***@one:5432,two:5433/plants?password=***&sslmode=disable  (environment)\n",
    );
    expect(stdout).not.toContain("s3cret");
  });

  it("would print no password of any address, however it is written", () => {
    for (const [address, shown] of [
      ["postgres://anna:s3cret@db/plants", "postgres://anna:***@db/plants"],
      ["postgresql://:s3cret@db/plants", "postgresql://:***@db/plants"],
      ["postgres://db/plants?user=anna&PASSWORD=s3cret", "postgres://db/plants?user=anna&PASSWORD=***"],
      ["postgres://anna:p@s3cret@db/plants", "postgres://anna:***@db/plants"],
      ["postgres://anna:1/s3cret@db/plants", "postgres://anna:***@db/plants"],
      ["postgres://anna:1?s3cret@db/plants", "postgres://anna:***@db/plants"],
      ["postgres://an/na:s3cret@db/plants", "postgres://an/na:***@db/plants"],
      ["postgres://anna@one:5432,two:5433/plants", "postgres://anna@one:5432,two:5433/plants"],
    ] as const)
      expect(withoutSecrets(address)).toBe(shown);
  });

  it("refuses the URL of another kind of database, and does not repeat it", async () => {
    expect(await runCommand(["config", "--database", "mysql://anna:s3cret@db/plants"])).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "plant-store: The settings are wrong:\n" +
        "  - --database must be sqlite, or an address such as postgres://user:password@host:5432/name.\nSee `plant-store serve --help`.\n",
    });
  });
});

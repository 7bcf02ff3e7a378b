import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { copyEmbedded, linkLibraries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { rejectionOf } from "../support/rejection.ts";

const ANSWERED = Array.from({ length: 20 }, (_, id) => ({ id }));

describe("a PostgreSQL server of the tests", () => {
  it("refuses connections after a kill, and after a restart has every row answered before", async () => {
    const cluster = await startCluster();
    await cluster.query("CREATE TABLE kept (id int)");
    for (const { id } of ANSWERED) await cluster.query(`INSERT INTO kept VALUES (${id})`);
    await cluster.kill();
    expect(await rejectionOf(cluster.query("SELECT 1"))).toMatchObject({ code: "ECONNREFUSED" });
    await cluster.start();
    expect(await cluster.query("SELECT id FROM kept ORDER BY id")).toEqual(ANSWERED);
  });

  it("stops and starts again on the same port with the same settings", async () => {
    const cluster = await startCluster({ settings: { work_mem: "5MB" } });
    const url = cluster.url();
    await cluster.stop();
    expect(await rejectionOf(cluster.query("SELECT 1"))).toMatchObject({ code: "ECONNREFUSED" });
    await cluster.start();
    expect(cluster.url()).toBe(url);
    expect(await cluster.query("SHOW work_mem")).toEqual([{ work_mem: "5MB" }]);
    expect(await cluster.query("SHOW fsync")).toEqual([{ fsync: "on" }]);
  });

  it("creates separate databases, in UTF-8 and sorted by bytes", async () => {
    const cluster = await startCluster();
    const [one, other] = await Promise.all([cluster.createDatabase("one"), cluster.createDatabase()]);
    expect(one).toBe(cluster.url("one"));
    expect(other).not.toBe(one);
    await cluster.query("CREATE TABLE here (id int)", "one");
    expect(await cluster.query("SELECT to_regclass('here') AS here", new URL(other).pathname.slice(1))).toEqual([{ here: null }]);
    expect(await cluster.query("SELECT '🌱' AS plant, 'Z' < 'a' AS bytes", "one")).toEqual([{ plant: "🌱", bytes: true }]);
  });

  it("has every answered row on a synchronous standby promoted after the primary was killed", async () => {
    const primary = await startCluster();
    await primary.query("CREATE TABLE kept (id int)");
    const standby = await primary.addStandby();
    expect(await rejectionOf(standby.query("INSERT INTO kept VALUES (-1)"))).toMatchObject({ code: "25006" });
    for (const { id } of ANSWERED) await primary.query(`INSERT INTO kept VALUES (${id})`);
    await primary.kill();
    await standby.promote();
    expect(await standby.query("SELECT id FROM kept ORDER BY id")).toEqual(ANSWERED);
    await standby.query("INSERT INTO kept VALUES (20)");
    expect(await standby.query("SELECT count(*)::int AS rows FROM kept")).toEqual([{ rows: 21 }]);
  });

  it("runs from the npm package too, with a synchronous standby, even where npm has linked its libraries", async () => {
    const binaries = copyEmbedded()!;
    linkLibraries(join(binaries, "../.."));
    const primary = await startCluster({ binaries });
    const standby = await primary.addStandby();
    await primary.query("CREATE TABLE kept (id int)");
    await primary.kill();
    await standby.promote();
    expect(await standby.query("SELECT * FROM kept")).toEqual([]);
    expect(await standby.query("SELECT current_setting('server_version_num')::int / 10000 AS major")).toEqual([{ major: 18 }]);
  });
});

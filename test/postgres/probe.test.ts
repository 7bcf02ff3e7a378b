import { afterAll, describe, expect, it } from "bun:test";
import { NO_PROBE } from "../support/bugs.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { spawnProcess, startProcess } from "../support/process.ts";
import { rejectionOf } from "../support/rejection.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function triggerOn(event: string, body: string, when = "BEFORE"): string[] {
  return [
    `CREATE FUNCTION misbehave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`,
    `CREATE TRIGGER misbehave ${when} ${event} ON plants FOR EACH ROW EXECUTE FUNCTION misbehave()`,
  ];
}

/** What stands between the service and its plants, and what the probe sees. */
const MISBEHAVIOUR: ReadonlyArray<Readonly<{ what: string; sql: readonly string[]; seen: string }>> = [
  {
    what: "writes each plant to two places",
    sql: [
      "CREATE TABLE plants_copy () INHERITS (plants)",
      ...triggerOn("INSERT", "INSERT INTO public.plants_copy VALUES (NEW.*); RETURN NULL;", "AFTER"),
    ],
    seen: "after 32 plants were written, 64 were found instead of 32.",
  },
  {
    what: "loses the plants of a part of the key space",
    sql: triggerOn("INSERT", "IF NEW.id < -4611686018427387904 THEN RETURN NULL; END IF; RETURN NEW;"),
    seen: "of 32 plants that were written, 24 were reported instead of 32.",
  },
  {
    what: "stores other names",
    sql: triggerOn("INSERT", "NEW.name = upper(NEW.name); RETURN NEW;"),
    seen: "was not found.",
  },
  {
    what: "trims names",
    sql: triggerOn("INSERT", "NEW.name = trim(NEW.name); RETURN NEW;"),
    seen: "was not found.",
  },
  {
    what: "makes no changes",
    sql: triggerOn("UPDATE", "RETURN NULL;"),
    seen: "of 32 plants that were confirmed, 0 were reported instead of 32.",
  },
  {
    what: "finds fewer by their words",
    sql: triggerOn("INSERT", "IF NEW.id > 0 THEN NEW.words = ''; END IF; RETURN NEW;"),
    seen: "of 32 plants that were to be listed by word, in order, 16 were, or in another order.",
  },
  {
    what: "deletes nothing",
    sql: triggerOn("DELETE", "RETURN NULL;"),
    seen: "of 32 plants that were deleted, 0 were reported instead of 32.",
  },
  {
    what: "fails",
    sql: triggerOn("DELETE", "RAISE EXCEPTION 'no deletes here';"),
    seen: "no deletes here",
  },
];

const NO_LOOK_PAST_IT: readonly PlantedBug[] = [
  { file: "src/store/postgres/probe.ts", from: "      await list(execute, LAST).catch(() => {});\n", to: "" },
];

const RISING = 20_000;

const running: Array<() => Promise<unknown>> = [];
afterAll(() => Promise.all(running.map((end) => end())));

/** A database with the tables of the store and one plant, and what then was made of it. */
async function makeDatabase(sql: readonly string[], bugs: readonly PlantedBug[] = []) {
  const server = await sharedCluster();
  const url = await server.createDatabase();
  const name = new URL(url).pathname.slice(1);
  const data = temporaryFolder();
  const service = await startProcess({ data, flags: ["--database", url], ...rootOf(bugs) });
  const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
  await fetch(`${service.url}/plants`, { method: "POST", headers, body: '{"id":1,"name":"there"}' });
  await service.end("SIGTERM");
  for (const statement of sql) await server.query(statement, name);
  const logged = () => server.query("SELECT id, name FROM plants ORDER BY id", name);
  return { url, plants: logged };
}

function rootOf(bugs: readonly PlantedBug[]) {
  return bugs.length > 0 ? { root: plantBugs(bugs) } : {};
}

function serve(url: string, bugs: readonly PlantedBug[] = []) {
  const service = spawnProcess({ data: temporaryFolder(), flags: ["--database", url], ...rootOf(bugs) });
  running.push(() => service.end("SIGKILL"));
  return service;
}

/** The bytes of the index of ids for each plant, when ids have risen since a start. */
async function indexBytes(bugs: readonly PlantedBug[] = []): Promise<number> {
  const { url } = await makeDatabase(
    [
      "ALTER TABLE plants SET (autovacuum_enabled = off)",
      `INSERT INTO plants (id, name, words) SELECT id, 'x', 'x' FROM generate_series(2, ${RISING}) AS ids (id)`,
    ],
    bugs,
  );
  const [row] = await (await sharedCluster()).query("SELECT pg_relation_size('plants_pkey') AS bytes", new URL(url).pathname.slice(1));
  return Number(row!["bytes"]) / RISING;
}

describe("a start", () => {
  it("leaves a database that behaves as it was, and says nothing", async () => {
    const { url, plants } = await makeDatabase([]);
    const service = serve(url);
    await service.started;
    expect(await plants()).toEqual([{ id: "1", name: "there" }]);
    expect(service.lines.filter((line) => line.includes("probe"))).toEqual([]);
  });

  for (const { what, sql, seen } of MISBEHAVIOUR) {
    it(`refuses a database that ${what}, says what was seen, and leaves nothing behind`, async () => {
      const { url, plants } = await makeDatabase(sql);
      const reason = String(await rejectionOf(serve(url).started));
      expect(reason).toContain("A probe that leaves nothing behind saw: ");
      expect(reason).toContain(seen);
      expect(await plants()).toEqual([{ id: "1", name: "there" }]);
    });
  }

  it("would visibly serve such a database without the probe", async () => {
    const { url } = await makeDatabase(MISBEHAVIOUR[0]!.sql);
    await serve(url, [NO_PROBE]).started;
  });

  it("leaves nothing in the index of ids that keeps its pages half empty when ids rise", async () => {
    expect(await indexBytes()).toBeLessThan(30);
  });

  it("would visibly leave that if it did not read past its own plants", async () => {
    expect(await indexBytes(NO_LOOK_PAST_IT)).toBeGreaterThan(30);
  });

  it("serves a database that takes no changes now, and says that it was not tried", async () => {
    const server = await sharedCluster();
    const { url } = await makeDatabase([]);
    await server.query(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET default_transaction_read_only = on`);
    const service = serve(url);
    await service.started;
    expect(service.lines.some((line) => line.includes('"event":"probe_failed"'))).toBe(true);
  });
});

import { afterEach, describe, expect, it } from "bun:test";
import { ChangeLog } from "../../src/store/postgres/change-log.ts";
import { DELETE_FIRST } from "../../src/store/postgres/change-statements.ts";
import type { Execute } from "../../src/store/postgres/engine/retry.ts";
import { openLoggedTable } from "../../src/store/postgres/plant-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { readOn } from "../support/history-pages.ts";
import { plantOf } from "../support/plant.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { openExecute, openLog, openStore } from "../support/postgres/store.ts";
import { rejectionOf } from "../support/rejection.ts";
import { until } from "../support/until.ts";

const cluster = await sharedCluster();
const closing: Array<() => Promise<unknown>> = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

async function open(url: string): Promise<Store> {
  const store = await openStore(url);
  closing.push(store.close);
  return store;
}

/** The answer yes, whatever was asked. */
const yes = async <Row>() => [["t"]] as unknown as Row[];

/** The log of a replica to which the plants are on Citus, until it looks after `comeBack`, and its table of plants. */
function openOnCitus(url: string) {
  const { execute, close } = openExecute(url);
  closing.push(close);
  let isOnCitus = true;
  let deletions = 0;
  // What tells of Citus answers as it does there.
  const probe: Execute = (statement, ...rest) => (statement.text.includes("pg_dist_") && isOnCitus ? yes() : execute(statement, ...rest));
  let isEmptied = false;
  const observed: Execute = async <Row extends unknown[]>(...[statement, ...rest]: Parameters<Execute>) => {
    const rows = await execute<Row>(statement, ...rest);
    if (statement !== DELETE_FIRST) return rows;
    deletions += 1;
    // There was no more.
    isEmptied = rows[0]![0] === "f";
    return rows;
  };
  const changes = new ChangeLog({ execute: observed, probe, log: openLog() });
  const plants = openLoggedTable(changes.isWritten)(execute, { isRepeatable: false });
  const look = async () => {
    await changes.follow();
    return changes.isKept();
  };
  return { look, plants, comeBack: () => (isOnCitus = false), deletions: () => deletions, isEmptied: () => isEmptied };
}

async function idsBehind(store: Store, after: string): Promise<number[]> {
  return (await readOn(store, { after })).changes.map(({ id }) => Number(id));
}

describe("the log of changes, where the plants were on Citus for a while", () => {
  it("begins a new history, because changes were not logged", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    await store.plants.create(plantOf(1));
    const before = await store.history.newest();
    const { look, comeBack } = openOnCitus(url);
    expect(await look()).toBe(false);
    comeBack();
    await until("it is kept again", look);
    expect(await rejectionOf(idsBehind(store, before))).toMatchObject({ code: "changes_gone" });
    const newest = await store.history.newest();
    await store.plants.create(plantOf(2));
    expect(await idsBehind(store, newest)).toEqual([2]);
  });

  it("is kept again only once it is empty, which a look at the server does not wait for", async () => {
    const url = await cluster.createDatabase();
    await (await open(url)).plants.create(plantOf(1));
    // Several times as many as are deleted at once.
    await queryOnce(
      url,
      "INSERT INTO plant_changes SELECT '1', at, 'mark', 0, '{}', NULL, NULL, '{}' FROM generate_series(1, 30000) AS at",
    );
    const { look, comeBack, deletions } = openOnCitus(url);
    expect([await look(), deletions()]).toEqual([false, 0]);
    comeBack();
    await until("it is kept again", look);
    expect(await queryOnce(url, "SELECT FROM plant_changes")).toEqual([]);
    expect(deletions()).toBeGreaterThan(1);
  });

  it("has what a replica changes that does not know yet that they are back", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    // The log has a row now.
    await store.history.newest();
    const { look, plants, isEmptied } = openOnCitus(url);
    expect(await look()).toBe(false);
    await until("the replica has emptied the log", isEmptied);
    const newest = await store.history.newest();
    await plants.insert([plantOf(1)], { by: () => "" });
    expect(await idsBehind(store, newest)).toEqual([1]);
  });
});

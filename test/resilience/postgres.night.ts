import { afterEach, describe, expect, it } from "bun:test";
import { ANSWER_BEFORE_COMMIT } from "../support/bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { sharedCluster, startCluster } from "../support/postgres/cluster.ts";
import type { Cluster } from "../support/postgres/cluster.ts";
import type { Fault } from "../support/postgres/faults.ts";
import { findFaults, startLoad } from "../support/postgres/load.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import type { Proxy } from "../support/postgres/proxy.ts";
import { readToken } from "../support/service.ts";
import { seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, startService } from "../support/service-process.ts";
import { until } from "../support/until.ts";

const CLIENTS = 24;
const FAULT_SECONDS = inForm(6, 60);
/** How much longer it may take until each kind of fault has come. */
const MORE_SECONDS_MAX = 180;
const FAILOVERS = inForm(2, 5);
/** How long a service retries a commit by default. */
const PATIENCE_MS = 1000;
/** A run counts only if the service was really busy. */
const RATE_MIN = inForm(20, 200);
/** How often each fault must have been injected. The long form runs on a machine with nothing else to do. */
const INJECTED_MIN = inForm(1, FAULT_SECONDS / 10);

const FAULTS: readonly Fault[] = [
  { kind: "cut_before" },
  { kind: "cut_during" },
  { kind: "cut_after" },
  { kind: "torn" },
  { kind: "garbled" },
  { kind: "hold", holdMs: 30 },
  { kind: "hold", holdMs: 2000 },
  { kind: "error", sqlstate: "40001" },
  { kind: "error", sqlstate: "40P01" },
  { kind: "error", sqlstate: "25006" },
  { kind: "error", sqlstate: "53100" },
  { kind: "fatal", sqlstate: "57P01" },
  { kind: "refusal", sqlstate: "53300" },
  { kind: "refusal", sqlstate: "57P03" },
];

/** Two faults are of one kind. */
const KINDS = FAULTS.length - 1;

const proxies: Proxy[] = [];
afterEach(async () => {
  await killServices();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

async function openProxy(target: Readonly<{ host: string; port: number }>): Promise<Proxy> {
  const proxy = await startProxy({ target });
  proxies.push(proxy);
  return proxy;
}

/** A load of some seconds with faults at random between the service and its database. */
async function runWithFaults(root: string | undefined, seconds: number) {
  const seed = seedOf("faults");
  const server = await sharedCluster();
  const database = await server.createDatabase();
  const proxy = await openProxy(server);
  const data = temporaryFolder();
  const service = await startService({ data, flags: ["--database", proxy.url(database)], ...(root === undefined ? {} : { root }) });
  proxy.randomly({ faults: FAULTS, probability: 0.05, seed });
  const started = performance.now();
  const load = startLoad({ urls: [service.url], token: await readToken(data), clients: CLIENTS, firstId: 1n });
  await Bun.sleep(seconds * 1000);
  // How many faults come is chance, and on a busy machine few do.
  for (let more = 0; root === undefined && more < MORE_SECONDS_MAX && proxy.injected.size < KINDS; more += 1) await Bun.sleep(1000);
  proxy.clear();
  const journal = await load.stop();
  const rate = journal.answered.size / ((performance.now() - started) / 1000);
  return { journal, rate, injected: proxy.injected, ...(await findFaults(database, journal)) };
}

describe("random faults between the service and PostgreSQL under load", () => {
  it(`lose nothing that was answered in ${FAULT_SECONDS} s, store nothing twice or differently, and lead only to 200 and 503`, async () => {
    const { journal, rate, injected, lost, strange } = await runWithFaults(undefined, FAULT_SECONDS);
    tell("faults of PostgreSQL", `${Math.round(rate)} plants a second, ${text(journal.statuses)}; injected ${text(injected)}`);
    expect(journal.wrong).toEqual([]);
    expect(new Set(journal.statuses.keys())).toEqual(new Set([200, 503]));
    expect({ lost, strange }).toEqual({ lost: [], strange: [] });
    expect(rate).toBeGreaterThan(RATE_MIN);
    expect(injected.size).toBe(KINDS);
    for (const [kind, count] of injected) expect(count, kind).toBeGreaterThanOrEqual(INJECTED_MIN);
  });

  it("would visibly lose plants if they were answered before their commit", async () => {
    const root = plantBugs(ANSWER_BEFORE_COMMIT);
    // Which faults hit a commit is chance, and on a busy machine few do.
    await until("Plants are lost", async () => (await runWithFaults(root, 5)).lost.length > 0);
  });
});

/**
 * Three services on a primary and its synchronous standby. `fail` kills the primary, promotes the standby, and creates
 * a new one.
 */
async function openFailover(root: string | undefined) {
  let primary: Cluster = await startCluster();
  const name = new URL(await primary.createDatabase("garden")).pathname;
  let standby = await primary.addStandby();
  const [left, right] = [await openProxy(primary), await openProxy(standby)];
  const database = `postgres://plants@127.0.0.1:${left.port},127.0.0.1:${right.port}${name}`;
  const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const services = [];
  for (const data of folders)
    services.push(await startService({ data, flags: ["--database", database], ...(root === undefined ? {} : { root }) }));
  let turn = 0;
  return {
    services,
    token: await readToken(folders[0]!),
    databaseUrl: () => primary.url("garden"),
    /** Kills the primary, and promotes the standby after the outage. */
    async fail({ outageMs }: { outageMs: number }): Promise<void> {
      await primary.kill();
      await Bun.sleep(outageMs);
      await standby.promote();
      primary = standby;
    },
    async renew(): Promise<void> {
      standby = await primary.addStandby();
      [left, right][turn % 2]!.pointAt(standby);
      turn += 1;
    },
  };
}

/** Waits until every service has answered a create with 200; returns how long that took, by a patient clock. */
async function waitUntilBack(urls: readonly string[], token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const clock = startPatientClock();
  for (const [at, url] of urls.entries()) {
    for (;;) {
      const response = await fetch(`${url}/plants`, { method: "POST", body: `{"id":-${at + 1},"name":"back"}`, headers });
      await response.arrayBuffer();
      if (response.status === 200) break;
      expect(response.status).toBe(503);
      await Bun.sleep(10);
    }
  }
  return clock.ms();
}

describe("three services on a primary with a synchronous standby", () => {
  it(`lose nothing that was answered when the primary is killed and the standby promoted, ${FAILOVERS} times, and are back within 5 s`, async () => {
    const { services, token, databaseUrl, fail, renew } = await openFailover(undefined);
    const urls = services.map(({ url }) => url);
    const outages: number[] = [];
    for (let round = 0; round < FAILOVERS; round += 1) {
      const load = startLoad({ urls, token, clients: CLIENTS, firstId: BigInt(round + 1) * 1_000_000_000n });
      await Bun.sleep(1500);
      await fail({ outageMs: 0 });
      outages.push(await waitUntilBack(urls, token));
      await renew();
      await Bun.sleep(500);
      const journal = await load.stop();
      expect(journal.wrong).toEqual([]);
      expect([...journal.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect(await findFaults(databaseUrl(), journal)).toEqual({ lost: [], strange: [] });
      expect(journal.answered.size).toBeGreaterThan(2 * RATE_MIN);
      tell(
        `failover ${round + 1}`,
        `${journal.answered.size} plants, ${text(journal.statuses)}, back after ${Math.round(outages.at(-1)!)} ms`,
      );
    }
    expect(Math.max(...outages)).toBeLessThan(5000);
  });

  it("would visibly lose plants if they were answered before their commit", async () => {
    const root = plantBugs(ANSWER_BEFORE_COMMIT);
    // Whether a commit is under way when the primary is killed is chance.
    await until("Plants are lost", async () => {
      const { services, token, databaseUrl, fail } = await openFailover(root);
      const load = startLoad({ urls: services.map(({ url }) => url), token, clients: CLIENTS, firstId: 1n });
      await Bun.sleep(1000);
      // In a shorter outage, every commit that was answered too early may be retried until it succeeds.
      await fail({ outageMs: 3 * PATIENCE_MS });
      const { lost } = await findFaults(databaseUrl(), await load.stop());
      await killServices();
      return lost.length > 0;
    });
  });
});

function text(counts: ReadonlyMap<unknown, number>): string {
  return [...counts].map(([what, count]) => `${String(what)}: ${count}`).join(", ");
}

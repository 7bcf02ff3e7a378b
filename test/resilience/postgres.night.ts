import { afterEach, expect, it } from "bun:test";
import { startPatientClock } from "../support/patient-clock.ts";
import { sharedCluster, startCluster } from "../support/postgres/cluster.ts";
import type { Cluster } from "../support/postgres/cluster.ts";
import type { Fault } from "../support/postgres/faults.ts";
import { findFaults, startLoad } from "../support/postgres/load.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import type { Proxy } from "../support/postgres/proxy.ts";
import { serveOn } from "../support/postgres/store.ts";
import { seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { askAs, killServices } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
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

it(`random faults between the service and PostgreSQL lose nothing that was answered in ${FAULT_SECONDS} s, store nothing twice or differently, and lead only to 200 and 503`, async () => {
  const seed = seedOf("faults");
  const server = await sharedCluster();
  const database = await server.createDatabase();
  const proxy = await openProxy(server);
  const service = await serveOn(proxy.url(database));
  proxy.randomly({ faults: FAULTS, probability: 0.05, seed });
  const started = performance.now();
  const load = startLoad({ urls: [service.url], token: service.token, clients: CLIENTS, firstId: 1n });
  await Bun.sleep(FAULT_SECONDS * 1000);
  // How many faults come is chance, and on a busy machine few do.
  for (let more = 0; more < MORE_SECONDS_MAX && proxy.injected.size < KINDS; more += 1) await Bun.sleep(1000);
  proxy.clear();
  const journal = await load.stop();
  const rate = journal.answered.size / ((performance.now() - started) / 1000);
  tell("faults of PostgreSQL", { rate, statuses: [...journal.statuses], injected: [...proxy.injected] });
  expect(journal.wrong).toEqual([]);
  expect(new Set(journal.statuses.keys())).toEqual(new Set([200, 503]));
  expect(await findFaults(database, journal)).toEqual({ lost: [], strange: [] });
  expect(rate).toBeGreaterThan(RATE_MIN);
  expect(proxy.injected.size).toBe(KINDS);
  for (const [kind, count] of proxy.injected) expect(count, kind).toBeGreaterThanOrEqual(INJECTED_MIN);
});

/** Waits until every service has answered a create with 200; returns how long that took, by a patient clock. */
async function waitUntilBack(services: readonly Service[], token: string): Promise<number> {
  const clock = startPatientClock();
  for (const [at, service] of services.entries())
    await until("It is back", async () => {
      const status = await askAs(token, service).statusOf("POST", "/plants", `{"id":-${at + 1},"name":"back"}`);
      expect([200, 503]).toContain(status);
      return status === 200;
    });
  return clock.ms();
}

it(`three services lose nothing that was answered when the primary is killed and its standby promoted, ${FAILOVERS} times, and are back within 5 s`, async () => {
  let primary: Cluster = await startCluster();
  const name = new URL(await primary.createDatabase("garden")).pathname;
  let standby = await primary.addStandby();
  const fronts = [await openProxy(primary), await openProxy(standby)];
  const database = `postgres://plants@${fronts.map(({ port }) => `127.0.0.1:${port}`).join()}${name}`;
  const services = [await serveOn(database), await serveOn(database), await serveOn(database)];
  const urls = services.map(({ url }) => url);
  const { token } = services[0]!;
  for (let round = 0; round < FAILOVERS; round += 1) {
    const load = startLoad({ urls, token, clients: CLIENTS, firstId: BigInt(round + 1) * 1_000_000_000n });
    await Bun.sleep(1500);
    await primary.kill();
    // In a short outage, every commit that was answered too early may be retried until it succeeds.
    if (round > 0) await Bun.sleep(3 * PATIENCE_MS);
    await standby.promote();
    const backMs = await waitUntilBack(services, token);
    primary = standby;
    standby = await primary.addStandby();
    fronts[round % 2]!.pointAt(standby);
    await Bun.sleep(500);
    const journal = await load.stop();
    expect(journal.wrong).toEqual([]);
    expect([...journal.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await findFaults(primary.url("garden"), journal)).toEqual({ lost: [], strange: [] });
    expect(journal.answered.size).toBeGreaterThan(2 * RATE_MIN);
    tell(`failover ${round + 1}`, { answered: journal.answered.size, statuses: [...journal.statuses], backMs });
    expect(backMs).toBeLessThan(5000);
  }
});

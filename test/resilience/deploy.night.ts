import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "bun:test";
import { parse } from "yaml";
import { parseConfig } from "../../src/app/config.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { findFaults, startLoad } from "../support/postgres/load.ts";
import { serveOn } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";
import { PROJECT } from "../support/process.ts";
import { endFronts, startFront } from "../support/proxies/fronts.ts";
import { needs } from "../support/program.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";

const DEPLOY = join(PROJECT, "deploy");
const balancerText = readFileSync(join(DEPLOY, "haproxy.cfg"), "utf8");
type Container = Readonly<{ environment?: Record<string, string>; ports?: readonly string[] }> & Readonly<Record<string, unknown>>;
type Compose = Readonly<{
  services: Readonly<Record<string, Container>>;
  networks: Readonly<{ default: Readonly<{ ipam: Readonly<{ config: readonly Readonly<{ subnet: string }>[] }> }> }>;
}>;
const compose = parse(readFileSync(join(DEPLOY, "compose.yaml"), "utf8"), { merge: true }) as Compose;
const replicas = Object.keys(compose.services).filter((name) => name.startsWith("plants-"));

afterEach(async () => {
  await endFronts();
  await killServices();
});

describe("the replicas of deploy/", () => {
  it("have settings that the service accepts, and trust the balancer, which is in their network", () => {
    expect(replicas).toHaveLength(3);
    const [network] = compose.networks.default.ipam.config;
    for (const name of replicas) {
      const environment = compose.services[name]!.environment ?? {};
      expect(parseConfig(environment, {}).database.kind).toBe("postgres");
      expect(environment["PLANT_STORE_TRUSTED_PROXIES"]).toBe(network!.subnet);
      expect(balancerText).toContain(`server ${name} ${name}:8080`);
    }
  });

  it("have the time that a stop takes, and metrics that no port publishes", () => {
    for (const name of replicas) {
      const container = compose.services[name]!;
      const { drainDelayMs, drainMs, metrics } = parseConfig(container.environment ?? {}, {});
      expect(Number.parseInt(String(container["stop_grace_period"])) * 1000).toBeGreaterThan(drainDelayMs + drainMs);
      expect([metrics, container.ports]).toEqual([{ host: "0.0.0.0", port: 9464 }, undefined]);
    }
  });

  it("run with the rights, the memory and the log that they need, and so does the balancer", () => {
    for (const [name, container] of Object.entries(compose.services)) {
      expect(container).toMatchObject({ security_opt: ["no-new-privileges:true"], logging: { options: { "max-size": "20m" } } });
      // The database's own start changes its user.
      if (name === "database") continue;
      expect(container).toMatchObject({ read_only: true, cap_drop: ["ALL"], pids_limit: 512 });
      expect(String(container["mem_limit"])).toMatch(/^\d+m$/);
    }
    expect(compose.services["balancer"]!.ports).toEqual(["127.0.0.1:8080:8080"]);
  });

  needs("haproxy").it("are replaced one by one behind the balancer, under load, without a failed request", async () => {
    const database = await (await sharedCluster()).createDatabase();
    const drainDelay = compose.services[replicas[0]!]!.environment!["PLANT_STORE_DRAIN_DELAY_MS"]!;
    const start = (port: string, data?: string) =>
      serveOn(database, { ...(data ? { data } : {}), flags: [...PATIENT, "--drain-delay-ms", drainDelay, "--port", port] });
    const running = [await start("0"), await start("0"), await start("0")];
    const url = await startFront("haproxy", { hosts: running.map((service) => new URL(service.url).host) });
    const load = startLoad({ urls: [url], token: running[0]!.token, clients: 8, firstId: 1n });
    for (const service of running) {
      expect(await service.end("SIGTERM")).toBe(0);
      await start(new URL(service.url).port, service.data);
      await Bun.sleep(1000);
    }
    const journal = await load.stop();
    expect(journal.wrong).toEqual([]);
    expect([...journal.statuses.keys()]).toEqual([200]);
    expect(journal.answered.size).toBeGreaterThan(1000);
    expect(await findFaults(database, journal)).toEqual({ lost: [], strange: [] });
  });

  needs("haproxy").it("leave it to the balancer to answer like the service when none of them is ready", async () => {
    const service = await startService();
    const url = await startFront("haproxy", { hosts: replicas.map(() => new URL(service.url).host) });
    await service.end("SIGKILL");
    await until("The balancer has noticed", async () => (await fetch(`${url}/plants/1`)).status === 503);
    const response = await fetch(`${url}/plants/1`);
    expect([response.headers.get("content-type"), response.headers.get("retry-after")]).toEqual(["application/json", "1"]);
    expect(await response.json()).toMatchObject({ error: 50301 });
  });
});

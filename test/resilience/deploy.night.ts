import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
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
import { askAs, killServices, PATIENT, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const DEPLOY = join(PROJECT, "deploy");
const balancerText = readFileSync(join(DEPLOY, "haproxy.cfg"), "utf8");
type Container = Readonly<{ environment?: Record<string, string>; ports?: readonly string[] }> & Readonly<Record<string, unknown>>;
type Compose = Readonly<{
  services: Readonly<Record<string, Container>>;
  networks: Readonly<{ default: Readonly<{ ipam: Readonly<{ config: readonly Readonly<{ subnet: string }>[] }> }> }>;
}>;
const compose = parse(readFileSync(join(DEPLOY, "compose.yaml"), "utf8"), { merge: true }) as Compose;
const replicas = Object.keys(compose.services).filter((name) => name.startsWith("plants-"));

/** The files that the guide's commands for one machine make of those in deploy/. */
function followGuide() {
  const guide = readFileSync(join(PROJECT, "docs/how-to/run-replicas.md"), "utf8");
  const [, commands = ""] = /^```sh\n(cat >> \/etc\/plant-store\/environment[^]*?)```$/m.exec(guide)!;
  const root = temporaryFolder();
  for (const folder of ["plant-store", "systemd/system", "haproxy"]) mkdirSync(join(root, folder), { recursive: true });
  const moved = commands.replaceAll("/etc/", `${root}/`).replace("/usr/share/doc/plant-store/", PROJECT);
  const { status, stderr } = spawnSync("sh", ["-euc", moved], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const [settings, unit, balancer] = ["plant-store/environment", "systemd/system/plant-store@.service", "haproxy/haproxy.cfg"].map((path) =>
    readFileSync(join(root, path), "utf8"),
  );
  const environment = Object.fromEntries(Array.from(settings!.matchAll(/^(\w+)=(.*)$/gm), ([, name, value]) => [name!, value!]));
  return { environment, unit: unit!, balancer: balancer! };
}

type Replacement = Readonly<{
  count: number;
  environment: Readonly<Record<string, string>>;
  /** The data folder of all replicas; by default each has its own. */
  data?: string;
  edit?: (text: string, hosts: readonly string[]) => string;
}>;

/**
 * Replaces replicas one by one behind HAProxy, under load: no request fails, and nothing is lost. While each is away, a
 * plant is read from another one.
 */
async function replaceUnderLoad({ count, environment, data, edit = (text) => text }: Replacement): Promise<void> {
  const database = await (await sharedCluster()).createDatabase();
  const start = (port: string, folder = temporaryFolder()) =>
    serveOn(database, { environment, data: folder, flags: [...PATIENT, "--port", port] });
  const running: Service[] = [];
  while (running.length < count) running.push(await start("0", data));
  const hosts = running.map(({ url }) => new URL(url).host);
  const url = await startFront("haproxy", { hosts, edit: (text) => edit(text, hosts) });
  const { token } = running[0]!;
  const { ask, statusOf } = askAs(token, { url });
  expect(await statusOf("POST", "/plants", '{"id":0,"name":"Acer"}')).toBe(200);
  const load = startLoad({ urls: [url], token, clients: 8, firstId: 1n });
  for (const service of running) {
    expect(await service.end("SIGTERM")).toBe(0);
    expect(await (await ask("GET", "/plants/0")).json()).toEqual({ id: 0, name: "Acer" });
    await start(new URL(service.url).port, service.data);
    await Bun.sleep(1000);
  }
  const journal = await load.stop();
  expect(journal.wrong).toEqual([]);
  expect([...journal.statuses.keys()]).toEqual([200]);
  expect(journal.answered.size).toBeGreaterThan(1000);
  expect(await findFaults(database, journal)).toEqual({ lost: [], strange: [] });
}

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
    const { PLANT_STORE_DRAIN_DELAY_MS = "" } = compose.services[replicas[0]!]!.environment!;
    await replaceUnderLoad({ count: replicas.length, environment: { PLANT_STORE_DRAIN_DELAY_MS } });
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

needs("haproxy").it(
  "two replicas on one machine, as the guide sets them up, are replaced under load without a failed request",
  async () => {
    const { environment, unit, balancer } = followGuide();
    expect(unit).toContain("\nExecStart=/usr/bin/plant-store serve --port %i\n");
    const edit = (_: string, hosts: readonly string[]) =>
      balancer.replaceAll(/127\.0\.0\.1:808(\d)/g, (_all, at) => hosts[Number(at) - 1]!);
    await replaceUnderLoad({ count: 2, environment, data: temporaryFolder(), edit });
  },
);

import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { afterAll, expect } from "bun:test";
import { CHECKPOINT_OFTEN, plantBugs } from "../support/plant-bugs.ts";
import { findFreePort } from "../support/port.ts";
import { startCluster, stopClusters } from "../support/postgres/cluster.ts";
import type { Cluster } from "../support/postgres/cluster.ts";
import { PROJECT } from "../support/process.ts";
import { findProgram, needs } from "../support/program.ts";
import { startPrometheus } from "../support/prometheus/prometheus.ts";
import type { Prometheus } from "../support/prometheus/prometheus.ts";
import { askAs, killServices, PATIENT, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { askUntil, until } from "../support/until.ts";

const { it, beforeAll } = needs("prometheus", "strace");

/** The rules of deploy/, where each minute is a second, but never fewer than three: a busy machine may hold a service up for one. */
const rules = readFileSync(join(PROJECT, "deploy/prometheus/alerts.yaml"), "utf8").replaceAll(
  /\b(\d+)([mh])\b/g,
  (_, count: string, unit: string) => (unit === "m" ? `${Math.max(Number(count), 3)}s` : `${count}m`),
);
let prometheus: Prometheus | undefined;
beforeAll(async () => {
  prometheus = await startPrometheus({ rules });
});
const often = plantBugs(CHECKPOINT_OFTEN);

/** What has to end with the test. */
const endings: Array<() => void> = [];
afterAll(async () => {
  for (const end of endings) end();
  await killServices();
  await stopClusters();
  await prometheus?.stop();
});

type Restart = () => Promise<Service>;

type Fault = Readonly<{
  what: string;
  alerts: readonly string[];
  breakIt: (service: Service, restart: Restart) => unknown;
  flags?: readonly string[] | (() => Promise<readonly string[]>);
  root?: string;
  /** Whether the metrics may take two seconds. */
  isPatient?: boolean;
}>;

const HEALTHY_MS = 6000;
/** Prometheus looks at its rules twice a second. */
const LOOK_MS = 250;

/** Lets system calls of a running service be slow or fail from now on. */
function inject({ pid }: Service, ...flags: readonly string[]): void {
  const child = spawn(findProgram("strace"), ["-f", "-p", String(pid), "-o", "/dev/null", ...flags], { stdio: "ignore" });
  endings.push(() => child.kill("SIGKILL"));
}

function repeat(ms: number, act: () => unknown): void {
  const timer = setInterval(act, ms);
  endings.push(() => clearInterval(timer));
}

const slowSync = (service: Service, ms: number) => inject(service, "-e", `inject=fsync,fdatasync:delay_enter=${ms * 1000}`);
const failWrites = (service: Service, file: string) => inject(service, "-P", join(service.data, file), "-e", "inject=pwrite64:error=EIO");

let cluster: Cluster;

const FAULTS: readonly Fault[] = [
  { what: "the process is killed", alerts: ["PlantStoreDown"], breakIt: ({ end }) => end("SIGKILL") },
  {
    what: "the disk refuses to write the WAL",
    alerts: ["PlantStoreNotReady", "PlantStoreErrors", "PlantStoreTrouble"],
    breakIt: (service) => failWrites(service, "plants.db-wal"),
  },
  {
    what: "the disk refuses to write the database",
    alerts: ["PlantStoreCheckpointsFail"],
    root: often,
    breakIt: (service) => failWrites(service, "plants.db"),
  },
  {
    what: "the disk needs two seconds for a sync",
    alerts: ["PlantStoreSlowSync", "PlantStoreSlowCreates", "PlantStoreQueueOld"],
    breakIt: (service) => slowSync(service, 2000),
  },
  {
    what: "more is written than a slow disk and a short queue take",
    alerts: ["PlantStoreOverloaded", "PlantStoreErrors"],
    flags: ["--queue-max", "2"],
    breakIt: (service) => slowSync(service, 1000),
  },
  {
    what: "another program reads the database without an end",
    alerts: ["PlantStoreCheckpointsBlocked"],
    root: often,
    breakIt({ data }) {
      const reader = new Database(join(data, "plants.db"), { readonly: true });
      reader.run("BEGIN");
      reader.query("SELECT count(*) FROM sqlite_schema").get();
      endings.push(() => reader.close());
    },
  },
  {
    what: "someone guesses tokens",
    alerts: ["PlantStoreTokensRefused"],
    breakIt: (service) =>
      repeat(
        200,
        () =>
          void askAs("wrong", service)
            .ask("GET", "/plants")
            .catch(() => {}),
      ),
  },
  {
    what: "there are more connections than it may have",
    alerts: ["PlantStoreConnectionsFull"],
    flags: ["--connections-max", "4"],
    breakIt: ({ url }) =>
      repeat(200, () => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
        endings.push(() => socket.destroy());
      }),
  },
  {
    what: "the processor is taken away for 300 of each 500 ms",
    alerts: ["PlantStoreEventLoopLate"],
    breakIt({ pid }) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      repeat(500, () => {
        process.kill(pid, "SIGSTOP");
        timer = setTimeout(() => process.kill(pid, "SIGCONT"), 300);
      });
      endings.push(() => clearTimeout(timer));
    },
  },
  {
    what: "it is killed and started again and again",
    alerts: ["PlantStoreRestarts"],
    async breakIt(service, restart) {
      let last = service;
      for (let start = 1; start <= 3; start += 1) {
        await last.end("SIGKILL");
        last = await restart();
        await Bun.sleep(1500);
      }
    },
  },
  {
    what: "someone removes the WAL",
    alerts: ["PlantStoreRisk"],
    async breakIt({ data, end }, restart) {
      await end("SIGKILL");
      rmSync(join(data, "plants.db-wal"));
      await restart();
    },
  },
  {
    what: "PostgreSQL stops",
    alerts: ["PlantStoreNotReady", "PlantStoreTrouble"],
    isPatient: true,
    async flags() {
      cluster = await startCluster();
      return ["--database", await cluster.createDatabase()];
    },
    breakIt: () => cluster.stop(),
  },
];

/** A service that is watched, and gets a create each 100 ms. */
async function openScene(instance: string, { flags = [], root }: Fault) {
  const metrics = `127.0.0.1:${await findFreePort()}`;
  const all = [...PATIENT, "--metrics", metrics, ...(typeof flags === "function" ? await flags() : flags)];
  let service = await startService({ flags: all, root });
  const { data, token } = service;
  let id = 0;
  repeat(100, () => {
    id += 1;
    askAs(token, service)
      .statusOf("POST", "/plants", `{"id":${id},"name":"Rose"}`)
      .catch(() => {});
  });
  prometheus!.watch(instance, service.started["metrics"]!);
  return { service, restart: async () => (service = await startService({ data, flags: all, root })) };
}

for (const [at, fault] of FAULTS.entries()) {
  const { what, alerts, breakIt, isPatient = false } = fault;
  it.concurrent(`${alerts.join(", ")}: silent until ${what}`, async () => {
    const { query, firing } = prometheus!;
    const instance = `${isPatient ? "patient" : "eager"}-${at}`;
    const { service, restart } = await openScene(instance, fault);
    await until("it is watched", async () => (await query(`up{instance="${instance}"} == 1`)).length === 1);
    await Bun.sleep(HEALTHY_MS);
    expect(await query(`count_over_time(ALERTS{alertstate="firing",instance="${instance}"}[1h])`)).toEqual([]);
    await breakIt(service, restart);
    const seen = new Set<string>();
    await askUntil(
      async () => {
        await Bun.sleep(LOOK_MS);
        for (const alert of await firing(instance)) seen.add(alert);
        return [...seen];
      },
      (all) => alerts.every((alert) => all.includes(alert)),
    );
    expect([...seen]).toEqual(expect.arrayContaining([...alerts]));
  });
}

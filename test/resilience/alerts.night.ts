import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { afterAll, expect } from "bun:test";
import { CHECKPOINT_OFTEN, plantBugs } from "../support/plant-bugs.ts";
import { findFreePort } from "../support/port.ts";
import { startCluster, stopClusters } from "../support/postgres/cluster.ts";
import { PROJECT } from "../support/process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { findProgram, needs } from "../support/program.ts";
import { startPrometheus } from "../support/prometheus/prometheus.ts";
import type { Prometheus } from "../support/prometheus/prometheus.ts";
import { readToken } from "../support/service.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
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

/** A service that is watched, and gets a create each 100 ms. */
type Scene = Readonly<{ data: string; port: number; token: string; service: ServiceProcess; restart(): Promise<ServiceProcess> }>;

type Fault = Readonly<{
  what: string;
  /** Begins with `patient` if the metrics may take two seconds. */
  instance: string;
  flags?: readonly string[] | (() => Promise<readonly string[]>);
  root?: string;
  breakIt: (scene: Scene) => unknown;
  alerts: readonly string[];
}>;

const HEALTHY_MS = 6000;
/** Prometheus looks at its rules twice a second. */
const LOOK_MS = 250;

async function openScene({ instance, flags = [], root = PROJECT }: Fault): Promise<Scene> {
  const data = temporaryFolder();
  const port = await findFreePort();
  const all = [...PATIENT, "--metrics", `127.0.0.1:${port}`, ...(typeof flags === "function" ? await flags() : flags)];
  let service = await startService({ data, flags: all, root });
  const token = await readToken(data);
  let id = 0;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const timer = setInterval(() => {
    id += 1;
    fetch(`${service.url}/plants`, { method: "POST", headers, body: `{"id":${id},"name":"Rose"}` }).then(
      (response) => response.text(),
      () => {},
    );
  }, 100);
  endings.push(() => clearInterval(timer));
  prometheus!.watch(instance, service.started["metrics"]!);
  async function restart(): Promise<ServiceProcess> {
    service = await startService({ data, flags: all, root });
    return service;
  }
  return { data, port, token, service, restart };
}

/** Lets system calls of a running service be slow or fail from now on. */
function inject({ service }: Scene, ...flags: readonly string[]): void {
  const child: ChildProcess = spawn(findProgram("strace"), ["-f", "-p", String(service.pid), "-o", "/dev/null", ...flags], {
    stdio: "ignore",
  });
  endings.push(() => child.kill("SIGKILL"));
}

function repeat(ms: number, act: () => unknown): void {
  const timer = setInterval(act, ms);
  endings.push(() => clearInterval(timer));
}

const slowSync = (scene: Scene, ms: number) => inject(scene, "-e", `inject=fsync,fdatasync:delay_enter=${ms * 1000}`);
const failWrites = (scene: Scene, file: string) => inject(scene, "-P", join(scene.data, file), "-e", "inject=pwrite64:error=EIO");

const FAULTS: readonly Fault[] = [
  { what: "the process is killed", instance: "killed", breakIt: ({ service }) => service.end("SIGKILL"), alerts: ["PlantStoreDown"] },
  {
    what: "the disk refuses to write the WAL",
    instance: "failing-disk",
    breakIt: (scene) => failWrites(scene, "plants.db-wal"),
    alerts: ["PlantStoreNotReady", "PlantStoreErrors", "PlantStoreTrouble"],
  },
  {
    what: "the disk refuses to write the database",
    instance: "failing-checkpoints",
    root: often,
    breakIt: (scene) => failWrites(scene, "plants.db"),
    alerts: ["PlantStoreCheckpointsFail"],
  },
  {
    what: "the disk needs two seconds for a sync",
    instance: "slow-disk",
    breakIt: (scene) => slowSync(scene, 2000),
    alerts: ["PlantStoreSlowSync", "PlantStoreSlowCreates", "PlantStoreQueueOld"],
  },
  {
    what: "more is written than a slow disk and a short queue take",
    instance: "overloaded",
    flags: ["--queue-max", "2"],
    breakIt: (scene) => slowSync(scene, 1000),
    alerts: ["PlantStoreOverloaded", "PlantStoreErrors"],
  },
  {
    what: "another program reads the database without an end",
    instance: "blocked",
    root: often,
    breakIt({ data }) {
      const reader = new Database(join(data, "plants.db"), { readonly: true });
      reader.run("BEGIN");
      reader.query("SELECT count(*) FROM sqlite_schema").get();
      endings.push(() => reader.close());
    },
    alerts: ["PlantStoreCheckpointsBlocked"],
  },
  {
    what: "somebody guesses tokens",
    instance: "guessed",
    breakIt: ({ service }) =>
      repeat(200, () => void fetch(`${service.url}/plants`, { headers: { authorization: "Bearer wrong" } }).catch(() => {})),
    alerts: ["PlantStoreTokensRefused"],
  },
  {
    what: "there are more connections than it may have",
    instance: "crowded",
    flags: ["--connections-max", "4"],
    breakIt: ({ service }) =>
      repeat(200, () => {
        const socket = connect(Number(new URL(service.url).port), "127.0.0.1").on("error", () => {});
        endings.push(() => socket.destroy());
      }),
    alerts: ["PlantStoreConnectionsFull"],
  },
  {
    what: "the processor is taken away for 300 of each 500 ms",
    instance: "stopped-often",
    breakIt({ service }) {
      let isStopped = false;
      const turn = () => {
        isStopped = !isStopped;
        process.kill(service.pid, isStopped ? "SIGSTOP" : "SIGCONT");
        timer = setTimeout(turn, isStopped ? 300 : 200);
      };
      let timer = setTimeout(turn, 0);
      endings.push(() => clearTimeout(timer));
    },
    alerts: ["PlantStoreEventLoopLate"],
  },
  {
    what: "it is killed and started again and again",
    instance: "restarted",
    async breakIt({ service, restart }) {
      let last = service;
      for (let start = 1; start <= 3; start += 1) {
        await last.end("SIGKILL");
        last = await restart();
        await Bun.sleep(1500);
      }
    },
    alerts: ["PlantStoreRestarts"],
  },
  {
    what: "somebody removes the WAL",
    instance: "without-wal",
    async breakIt({ data, service, restart }) {
      await service.end("SIGKILL");
      rmSync(join(data, "plants.db-wal"));
      await restart();
    },
    alerts: ["PlantStoreRisk"],
  },
];

async function expectToFire(fault: Fault): Promise<void> {
  const { query, firing } = prometheus!;
  const { instance, alerts } = fault;
  const scene = await openScene(fault);
  await until("it is watched", async () => (await query(`up{instance="${instance}"} == 1`)).length === 1);
  await Bun.sleep(HEALTHY_MS);
  expect([instance, await query(`count_over_time(ALERTS{alertstate="firing",instance="${instance}"}[1h])`)]).toEqual([instance, []]);
  await fault.breakIt(scene);
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
}

for (const fault of FAULTS) {
  it.concurrent(`${fault.alerts.join(", ")}: silent until ${fault.what}`, () => expectToFire(fault));
}

it.concurrent("PlantStoreNotReady: silent until PostgreSQL stops", async () => {
  const cluster = await startCluster();
  const database = await cluster.createDatabase();
  await expectToFire({
    what: "PostgreSQL stops",
    instance: "patient-postgres",
    flags: ["--database", database],
    breakIt: () => cluster.stop(),
    alerts: ["PlantStoreNotReady", "PlantStoreTrouble"],
  });
});

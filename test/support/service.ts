import { createMetrics } from "../../src/runtime/metrics.ts";
import { join } from "node:path";
import { parseConfig } from "../../src/app/config.ts";
import type { Log } from "../../src/runtime/log.ts";
import { countEvents, createLog } from "../../src/runtime/log.ts";
import { start } from "../../src/app/service.ts";
import type { Running } from "../../src/app/service.ts";
import { sharedCluster } from "./postgres/cluster.ts";
import { startProcess } from "./process.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A whole service inside the test process, on a real port and a real store. */
export type TestService = Running &
  Readonly<{
    token: string;
    logged: readonly string[];
    /** POST /plants with exactly this body. */
    post: (body: string | Uint8Array, headers?: Record<string, string>) => Promise<Response>;
    /** A request with the first token and the given options. */
    request: (path: string, init?: Omit<RequestInit, "headers"> & { headers?: Record<string, string> }) => Promise<Response>;
  }>;

type TestOptions = Readonly<{
  /** A folder of built pages, if not the project's own. */
  web?: string;
  environment?: Readonly<Record<string, string>>;
}>;

/** Where it names a program, such as one that is installed, that is started as a process instead. */
const PROGRAM = process.env["TEST_PROGRAM"];

/** Where it is "PostgreSQL", a data folder that names no database has one there (interface/postgres.night.ts). */
export const ENGINE = process.env["TEST_ENGINE"];
const databases = new Map<string, string>();

/** `token` is the first token; empty if it no longer exists. */
export async function startTestService(flags: Record<string, string> = {}, options: TestOptions = {}): Promise<TestService> {
  const data = flags["data"] ?? temporaryFolder();
  // A disk that others keep busy may stand still for seconds: what is asked here is not how long.
  const settings = { port: "0", data, refusedRequestsPerMinute: "0", queueWaitMs: "60000", ...(await databaseOf(data)), ...flags };
  const { running, logged } = PROGRAM === undefined ? await startHere(settings, options) : await startOutside(PROGRAM, settings, options);
  const token = running.tokenFile === undefined ? "" : await readToken(data);
  function request(path: string, init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}): Promise<Response> {
    return fetch(`${running.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  }
  return {
    ...running,
    token,
    logged,
    request,
    post: (body, headers = {}) =>
      request("/plants", { method: "POST", body: body, headers: { "content-type": "application/json", ...headers } }),
  };
}

async function databaseOf(data: string): Promise<{ database?: string }> {
  if (ENGINE !== "PostgreSQL") return {};
  const database = databases.get(data) ?? (await (await sharedCluster()).createDatabase());
  databases.set(data, database);
  return { database };
}

type Started = Readonly<{ running: Running; logged: readonly string[] }>;

async function startHere(settings: Record<string, string>, { web, environment = {} }: TestOptions): Promise<Started> {
  const config = parseConfig(environment, settings);
  const logged: string[] = [];
  const metrics = createMetrics();
  const lines = createLog({ level: config.log, isTerminal: false, write: (line) => logged.push(line), now: Date.now });
  const log: Log = countEvents(lines, metrics);
  const running = await start(config, {
    metrics,
    log,
    onFatal(reason) {
      throw reason;
    },
    ...(web === undefined ? {} : { web }),
  });
  return { running, logged };
}

/** A test that needs the store itself cannot run so. */
async function startOutside(program: string, settings: Record<string, string>, { environment = {} }: TestOptions): Promise<Started> {
  const flags = Object.entries({ host: "127.0.0.1", ...settings }).flatMap(([name, value]) => [
    `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    value,
  ]);
  const service = await startProcess({ program, data: settings["data"]!, flags, environment });
  const { address, metrics, tokenFile } = service.started;
  const stop = async () => {
    await service.end("SIGTERM");
  };
  const running = { url: address!, metricsUrl: metrics, tracesUrl: undefined, tokenFile, firstToken: undefined, stop };
  const store = new Proxy({} as Running["store"], {
    get() {
      throw new Error("A test from outside has no store.");
    },
  });
  return { running: { ...running, store }, logged: service.lines };
}

export async function readToken(data: string): Promise<string> {
  return (await Bun.file(join(data, "first-token")).text()).trim();
}

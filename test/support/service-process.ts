import { readFileSync } from "node:fs";
import { join } from "node:path";
import { flagsOf } from "./engines.ts";
import type { Engine } from "./engines.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { spawnProcess } from "./process.ts";
import type { ServiceProcess, SpawnedProcess } from "./process.ts";
import { readToken } from "./service.ts";
import { findProgram } from "./program.ts";
import { until } from "./until.ts";

const running = new Set<SpawnedProcess>();

type ServiceOptions = Parameters<typeof spawnProcess>[0];

/** A service as a process, its folder, its first token, and what sends requests with it. */
export type Service = ServiceProcess &
  Readonly<{
    data: string;
    /** Empty if another service of the same database has made the first one. */
    token: string;
  }> &
  Asker;

type Asker = Readonly<{
  ask(method: string, path: string, body?: RequestInit["body"], type?: string): Promise<Response>;
  statusOf(...request: Parameters<Asker["ask"]>): Promise<number>;
}>;

/** Sends requests to a service with a token. */
export function askAs(token: string, { url }: Readonly<{ url: string }>): Asker {
  function ask(method: string, path: string, body?: RequestInit["body"], type = "application/json"): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, "content-type": type };
    return fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  }
  return { ask, statusOf: async (...request) => (await ask(...request)).status };
}

/** Starts the service as a process that `killServices` will end, whatever happens to the test. */
export function startService({ data = temporaryFolder(), ...options }: Partial<ServiceOptions> = {}): Promise<Service> {
  return openService(data, spawnService({ data, ...options }));
}

/** The service once it is ready. */
async function openService(data: string, spawned: SpawnedProcess): Promise<Service> {
  const started = await spawned.started;
  const url = started["address"]!;
  const token = await readToken(data).catch(() => "");
  return { ...spawned, url, started, data, token, ...askAs(token, { url }) };
}

/** The same as `startService`, without waiting until it is ready. */
export function spawnService(options: ServiceOptions): SpawnedProcess {
  const service = spawnProcess(options);
  running.add(service);
  void service.exited.then(() => running.delete(service));
  return service;
}

/** A service that answers 503 because the machine is slow says nothing about its promises. */
export const PATIENT = ["--queue-wait-ms", "60000"];

/** Starts the service on a new store of one of the engines, in its own data folder. It is patient with a slow disk. */
export async function startOn(engine: Engine, options: Partial<ServiceOptions> = {}): Promise<Service> {
  return startService({ ...options, flags: [...PATIENT, ...flagsOf(await engine.openFlags())] });
}

/** Ends every service that still runs. */
export async function killServices(): Promise<void> {
  await Promise.all(Array.from(running, (service) => service.end("SIGKILL")));
}

/** A service whose system calls are recorded. */
export type TracedService = Service &
  Readonly<{
    /** What strace has written by now. */
    traceSoFar(): string;
    /** What strace wrote, once the service has ended. */
    trace(): Promise<string>;
  }>;

type TracedOptions = Omit<Partial<ServiceOptions>, "under"> & Readonly<{ inject?: readonly string[] }>;

const CALLS = "trace=mmap,openat,rename,unlink,pwrite64,ftruncate,fsync,fdatasync,write,writev,sendto,sendmsg";
/** More than any write or response of ours. */
const BYTES_SHOWN = "1048576";

/** The service ended before it was ready. */
export class FailedStart extends Error {
  /** Its exit status; null if a signal ended it. */
  readonly code: number | null;
  readonly trace: string;

  constructor(message: string, code: number | null, trace: string) {
    super(message);
    this.name = "FailedStart";
    this.code = code;
    this.trace = trace;
  }
}

/** Starts the service under strace. `inject` has flags that say which calls fail. Rejects with a FailedStart. */
export async function startTraced({ inject = [], data = temporaryFolder(), ...options }: TracedOptions = {}): Promise<TracedService> {
  const path = join(temporaryFolder(), "trace");
  // With -D strace is a child of the service, not its parent: our signals and the exit status are the service's own.
  const flags = ["-D", "-f", "--seccomp-bpf", "-yy", "-s", BYTES_SHOWN, "-e", CALLS, ...inject, "-o", path];
  const spawned = spawnService({ ...options, data, under: [findProgram("strace"), ...flags] });
  const trace = () => spawned.exited.then(() => readTrace(path, spawned.pid));
  try {
    return { ...(await openService(data, spawned)), traceSoFar: () => readFileSync(path, "utf8"), trace };
  } catch (reason) {
    throw new FailedStart(String(reason), await spawned.exited, await trace());
  }
}

/** What strace wrote of a process that has ended. */
async function readTrace(path: string, pid: number): Promise<string> {
  const end = new RegExp(`^${pid} +\\+\\+\\+ (exited|killed)`, "m");
  await until(`The end of ${path}`, () => end.test(readFileSync(path, "utf8")));
  return readFileSync(path, "utf8");
}

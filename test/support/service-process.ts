import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "./engines.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { spawnProcess } from "./process.ts";
import type { ServiceProcess, SpawnedProcess } from "./process.ts";
import { readToken } from "./service.ts";
import { findProgram } from "./program.ts";
import { waitMsMax } from "./until.ts";

const running = new Set<SpawnedProcess>();

type ServiceOptions = Parameters<typeof spawnProcess>[0];

/** Starts the service as a process that `killServices` will end, whatever happens to the test. */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const service = spawnService(options);
  const started = await service.started;
  return { ...service, url: started["address"]!, started };
}

/** The same, without waiting until it is ready. */
export function spawnService(options: ServiceOptions): SpawnedProcess {
  const service = spawnProcess(options);
  running.add(service);
  void service.exited.then(() => running.delete(service));
  return service;
}

/** A service that answers 503 because the machine is slow says nothing about its promises. */
export const PATIENT = ["--queue-wait-ms", "60000"];

/** Starts the service on a new store of one of the engines, in its own data folder. It is patient with a slow disk. */
export async function startOn(
  engine: Engine,
  root: string | undefined,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess & Readonly<{ token: string }>> {
  const data = temporaryFolder();
  const flags = Object.entries(await engine.openFlags()).flatMap(([name, value]) => [`--${name}`, value]);
  const service = await startService({ data, flags: [...PATIENT, ...flags], environment, ...(root === undefined ? {} : { root }) });
  return { ...service, token: await readToken(data) };
}

/** Ends every service that still runs. */
export async function killServices(): Promise<void> {
  await Promise.all(Array.from(running, (service) => service.end("SIGKILL")));
}

/** A service whose system calls are recorded. */
export type TracedService = ServiceProcess &
  Readonly<{
    /** What strace has written by now. */
    traceSoFar(): string;
    /** What strace wrote, once the service has ended. */
    trace(): Promise<string>;
  }>;

type TracedOptions = Omit<ServiceOptions, "under"> & Readonly<{ inject?: readonly string[] }>;

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
export async function startTraced({ inject = [], ...options }: TracedOptions): Promise<TracedService> {
  const path = join(temporaryFolder(), "trace");
  // With -D strace is a child of the service, not its parent: our signals and the exit status are the service's own.
  const flags = ["-D", "-f", "--seccomp-bpf", "-yy", "-s", BYTES_SHOWN, "-e", CALLS, ...inject, "-o", path];
  const service = spawnService({ ...options, under: [findProgram("strace"), ...flags] });
  const trace = () => service.exited.then(() => readTrace(path, service.pid));
  try {
    const started = await service.started;
    return { ...service, url: started["address"]!, started, traceSoFar: () => readFileSync(path, "utf8"), trace };
  } catch (reason) {
    throw new FailedStart(String(reason), await service.exited, await trace());
  }
}

/** What strace wrote of a process that has ended. */
async function readTrace(path: string, pid: number): Promise<string> {
  const deadline = performance.now() + waitMsMax();
  while (performance.now() < deadline) {
    const text = readFileSync(path, "utf8");
    if (new RegExp(`^${pid} +\\+\\+\\+ (exited|killed)`, "m").test(text)) return text;
    await Bun.sleep(10);
  }
  throw new Error(`strace did not finish ${path}.`);
}

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findFreePort } from "../port.ts";
import { until } from "../until.ts";
import { findServerUser } from "./user.ts";

const SETPRIV = "/usr/bin/setpriv";

/** The processes of one PostgreSQL server. */
export type Postmaster = Readonly<{
  port: number;
  /** Resolves once the server accepts connections; at once if it is running. The port is the same each time. */
  start(): Promise<void>;
  /** Ends connections and writes a checkpoint ("fast shutdown"). */
  stop(): Promise<void>;
  /** Ends it without a checkpoint, whatever state it is in, and leaves nothing of it behind. */
  drop(): Promise<void>;
  /** Sends SIGKILL to all processes at once. Resolves when none is left: the port refuses, and a start is possible. */
  kill(): Promise<void>;
  /** Sends SIGSTOP to all processes: connections stay open, and nothing is answered until `resume`. */
  pause(): void;
  resume(): void;
}>;

/** A server that is not started yet, on a data folder made by initdb. */
export async function openPostmaster({ binaries, data }: Readonly<{ binaries: string; data: string }>): Promise<Postmaster> {
  const port = await findFreePort();
  let child: ChildProcess | undefined;

  function isRunning(): boolean {
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }
  function isReady(): boolean {
    const lock = readLock(data);
    return isRunning() && Number(lock[0]) === child?.pid && lock[7]?.trim() === "ready";
  }
  /** Sends a signal if it is running, and waits until the postmaster and all its children are gone. */
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (isRunning()) signalAll(data, "SIGCONT");
    child?.kill(signal);
    await until("The server has ended", () => !isRunning() && findPids(data).length === 0);
  }
  return {
    port,
    async start() {
      if (isReady()) return;
      // Bun ends the processes of a test that takes too long with SIGTERM, and then a postmaster waits for its clients
      // forever.
      await end("SIGQUIT");
      child = spawnPostgres({ binaries, data, port });
      await until(`The server is ready, see ${logOf(data)}`, () => {
        if (!isRunning()) throw new Error(`PostgreSQL has ended before it was ready:\n${readFileSync(logOf(data), "utf8")}`);
        return isReady();
      });
    },
    stop: () => end("SIGINT"),
    drop: () => end("SIGQUIT"),
    async kill() {
      // Stop it first: a running postmaster could fork while its children are counted.
      child?.kill("SIGSTOP");
      signalAll(data, "SIGKILL");
      await end("SIGKILL");
      // A killed server leaves a System V segment behind, and the kernel has room for only 4096.
      const segment = readLock(data)[6]?.trim().split(/\s+/)[1];
      if (segment !== undefined) spawnSync("ipcrm", ["-m", segment]);
    },
    pause() {
      child?.kill("SIGSTOP");
      signalAll(data, "SIGSTOP");
    },
    resume() {
      signalAll(data, "SIGCONT");
    },
  };
}

function spawnPostgres({ binaries, data, port }: Readonly<{ binaries: string; data: string; port: number }>): ChildProcess {
  const server = [join(binaries, "postgres"), "-D", data, "-p", String(port), "-k", dirname(data)];
  // The server must end with the test process, which a signal may end before the last test.
  const command = existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL", ...server] : server;
  const log = openSync(logOf(data), "a");
  const child = spawn(command[0]!, command.slice(1), { ...findServerUser(), cwd: dirname(data), stdio: ["ignore", log, log] });
  closeSync(log);
  return child;
}

function logOf(data: string): string {
  return join(dirname(data), "log");
}

/** The lines of postmaster.pid: the pid first, the segment's key and id seventh, the status eighth. */
function readLock(data: string): string[] {
  const path = join(data, "postmaster.pid");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
}

function signalAll(data: string, signal: NodeJS.Signals): void {
  for (const pid of findPids(data)) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended by itself.
    }
  }
}

/** All processes of the server, even without a postmaster: their working directory is its data folder. */
function findPids(data: string): number[] {
  const folder = realpathSync(data);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && workingFolderOf(name) === folder)
    .map(Number);
}

/** `undefined` for a process that is gone, a zombie, or another user's. */
function workingFolderOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

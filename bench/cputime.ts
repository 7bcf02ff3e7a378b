import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ, the unit of /proc/PID/stat, is 100 on every Linux that Bun runs on. */
const TICKS_PER_SECOND = 100;

/** CPU time used by a process so far, with all its threads. */
export function cpuSecondsOf(pid: number): number {
  return readStat(pid)?.ownSeconds ?? Number.NaN;
}

/**
 * CPU time used so far by the threads of a process that are alive, by name: the main thread is "main", and threads of
 * one name count together.
 */
export function cpuSecondsByThread(pid: number): Readonly<Record<string, number>> {
  const seconds: Record<string, number> = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const name = Number(thread) === pid ? "main" : readThread(pid, thread, "comm").trim();
    // The first number of schedstat is the time on a processor, in nanoseconds.
    seconds[name] = (seconds[name] ?? 0) + Number(readThread(pid, thread, "schedstat").split(" ")[0]) / 1e9;
  }
  return seconds;
}

/** Empty for a thread that is gone. */
function readThread(pid: number, thread: string, file: "comm" | "schedstat"): string {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/**
 * CPU time used by a process and its children, including ended ones: the kernel adds their time to the parent that
 * waited for them.
 */
export function cpuSecondsOfFamily(pid: number): number {
  const { ownSeconds, endedSeconds } = readStat(pid) ?? { ownSeconds: Number.NaN, endedSeconds: Number.NaN };
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = pids.map((child) => readStat(Number(child))).filter((stat) => stat?.parent === pid);
  return children.reduce((sum, stat) => sum + (stat?.ownSeconds ?? 0), ownSeconds + endedSeconds);
}

type Stat = Readonly<{ parent: number; ownSeconds: number; endedSeconds: number }>;

/**
 * Field 4 of proc_pid_stat(5), and 14 to 17: user and system time of the process, and of its ended children. The
 * program's name, in brackets before them, may contain spaces. Undefined for a process that is gone.
 */
function readStat(pid: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1] ?? 0,
      ownSeconds: (user + system) / TICKS_PER_SECOND,
      endedSeconds: (endedUser + endedSystem) / TICKS_PER_SECOND,
    };
  } catch {
    return undefined;
  }
}

import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ, the unit of /proc/PID/stat, is 100 on every Linux that Bun runs on. */
const TICKS_PER_SECOND = 100;

/** CPU time used by a process so far, with all its threads. */
export function cpuSecondsOf(pid: number): number {
  return readStat(pid).own;
}

/**
 * CPU time used so far by the threads of a process that are alive, by name: the main thread is "main", and threads of
 * one name count together.
 */
export function cpuSecondsByThread(pid: number): Readonly<Record<string, number>> {
  const seconds: Record<string, number> = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const name = Number(thread) === pid ? "main" : read(`${pid}/task/${thread}/comm`).trim();
    // The first number of schedstat is the time on a processor, in nanoseconds.
    seconds[name] = (seconds[name] ?? 0) + Number(read(`${pid}/task/${thread}/schedstat`).split(" ")[0]) / 1e9;
  }
  return seconds;
}

/**
 * CPU time used by a process and its children, including ended ones: the kernel adds their time to the parent that
 * waited for them.
 */
export function cpuSecondsOfFamily(pid: number): number {
  const { own, ended } = readStat(pid);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = pids.map((child) => readStat(Number(child))).filter(({ parent }) => parent === pid);
  return children.reduce((sum, child) => sum + child.own, own + ended);
}

/**
 * Field 4 of proc_pid_stat(5), and 14 to 17: user and system time of the process, and of its ended children. The
 * program's name, in brackets before them, may contain spaces.
 */
function readStat(pid: number): Readonly<{ parent: number; own: number; ended: number }> {
  const stat = read(`${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map((ticks) => Number(ticks) / TICKS_PER_SECOND);
  return { parent: Number(fields[1]), own: user + system, ended: endedUser + endedSystem };
}

/** Empty for a process or thread that is gone. */
function read(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, "utf8");
  } catch {
    return "";
  }
}

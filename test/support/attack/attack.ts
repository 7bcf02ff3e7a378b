import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Many connections that do harm, in a process of their own, so that they don't slow down what is measured. */
type Attack<Counts> = Readonly<{
  /** What it has counted by now, or just before. */
  counts(): Counts;
  /** What it has counted when it has ended by itself. */
  ended: Promise<Counts>;
  /** Ends the process, and with it all its sockets. */
  end(): Promise<void>;
}>;

type Statuses = Readonly<Record<string, number>>;
type To = Readonly<{ url: string; token: string }>;

const running = new Set<ChildProcess>();

/** Slow sockets: after how many milliseconds the service closed each, by its kind. Resolves when all are open. */
export function startAttack({ url, token, sockets }: To & Readonly<{ sockets: number }>): Promise<Attack<Record<string, number[]>>> {
  return startAttackBy([process.execPath, join(import.meta.dirname, "attacker.ts"), url, token, String(sockets)], {});
}

/** The requests of the corpus, half of them with a token, which may only read: whether each was sent, and what came. */
export function startOdd({ url, token }: To): Promise<Attack<{ sent: number; isWhole: boolean; statuses: Statuses }>> {
  const command = [process.execPath, join(import.meta.dirname, "odd.ts"), url, token];
  return startAttackBy(command, { sent: 0, isWhole: false, statuses: {} });
}

/** Ends every attack that still runs. */
export function endAttacks(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts a program, under another one if it is named, and resolves when it writes "open". Its other lines are counts, as JSON. */
export async function startAttackBy<Counts>(command: readonly string[], none: Counts): Promise<Attack<Counts>> {
  let counts = none;
  const child = spawn(command[0]!, command.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const ended = once(child, "close").then(() => {
    running.delete(child);
    return counts;
  });
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "open") resolve();
      else counts = JSON.parse(line) as Counts;
    });
    void ended.then(() => reject(new Error(`${command.join(" ")} ended before it had begun.`)));
  });
  return {
    counts: () => counts,
    ended,
    async end() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

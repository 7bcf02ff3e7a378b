import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Many slow sockets, in a process of their own. */
export type Attack = Readonly<{
  /** After how many milliseconds the service closed each socket, by its kind. Sockets that read nothing do not notice. */
  closed: ReadonlyMap<string, readonly number[]>;
  /** Ends the process, and with it all sockets. */
  end(): Promise<void>;
}>;

type AttackOptions = Readonly<{ url: string; token: string; sockets: number }>;

const running = new Set<ChildProcess>();

/** Resolves when all sockets are open and have sent what they send at once. */
export async function startAttack({ url, token, sockets }: AttackOptions): Promise<Attack> {
  const words = [join(import.meta.dirname, "attacker.ts"), url, token, String(sockets)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const exited = once(child, "exit").then(() => running.delete(child));
  const closed = new Map<string, number[]>();
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "open") return resolve();
      const [kind = "", ms] = line.split(": ");
      closed.set(kind, [...(closed.get(kind) ?? []), Number(ms)]);
    });
    void exited.then(() => reject(new Error("The attacker ended before its sockets were open.")));
  });
  return {
    closed,
    async end() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Ends every attack that still runs. */
export function endAttacks(): void {
  for (const child of running) child.kill("SIGKILL");
}

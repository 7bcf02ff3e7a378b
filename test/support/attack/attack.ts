import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Running = Readonly<{
  /** Ends the process, and with it all its sockets. */
  end(): Promise<void>;
}>;

/** Many slow sockets, in a separate process. */
type Attack = Running &
  Readonly<{
    /** After how many milliseconds the service closed each socket, by its kind. */
    closed: ReadonlyMap<string, readonly number[]>;
  }>;

/** Requests with tokens that were never issued, in a separate process. */
export type Strangers = Running &
  Readonly<{
    /** How often each status was answered so far. */
    counts(): Readonly<{ statuses: Readonly<Record<string, number>> }>;
  }>;

/** Requests that proxies and services are known to misread, in a separate process. */
export type Odd = Running &
  Readonly<{
    /** How many were sent so far, and how often each status was answered. */
    counts(): Readonly<{ sent: number; statuses: Readonly<Record<string, number>> }>;
  }>;

type AttackOptions = Readonly<{ url: string; token: string; sockets: number }>;
type StrangersOptions = Readonly<{ url: string; perSecond: number }>;

const running = new Set<ChildProcess>();

/** Resolves when all sockets are open and have sent their first bytes. */
export async function startAttack({ url, token, sockets }: AttackOptions): Promise<Attack> {
  const closed = new Map<string, number[]>();
  const attack = await startProgram("attacker.ts", [url, token, String(sockets)], (line) => {
    const [kind = "", ms] = line.split(": ");
    closed.set(kind, [...(closed.get(kind) ?? []), Number(ms)]);
  });
  return { ...attack, closed };
}

/** Resolves when the first requests are on their way. */
export async function startStrangers({ url, perSecond }: StrangersOptions): Promise<Strangers> {
  let counts: ReturnType<Strangers["counts"]> = { statuses: {} };
  const strangers = await startProgram("strangers.ts", [url, String(perSecond)], (line) => {
    counts = JSON.parse(line) as typeof counts;
  });
  return { ...strangers, counts: () => counts };
}

/** Resolves when the first requests are on their way: half of them with a token, which may only read. */
export async function startOdd({ url, token }: Readonly<{ url: string; token: string }>): Promise<Odd> {
  let counts: ReturnType<Odd["counts"]> = { sent: 0, statuses: {} };
  const odd = await startProgram("odd.ts", [url, token], (line) => {
    counts = JSON.parse(line) as typeof counts;
  });
  return { ...odd, counts: () => counts };
}

/** Ends every attack that still runs. */
export function endAttacks(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts a program of this folder, and resolves when it has written the line "open". */
async function startProgram(file: string, words: readonly string[], onLine: (line: string) => void): Promise<Running> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), ...words], { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const exited = once(child, "exit").then(() => running.delete(child));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => (line === "open" ? resolve() : onLine(line)));
    void exited.then(() => reject(new Error(`${file} ended before it had begun.`)));
  });
  return {
    async end() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

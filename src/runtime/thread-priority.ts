import { readFileSync, readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** The id that the system gives the calling thread. Undefined except on Linux. */
export function currentThread(): number | undefined {
  try {
    return Number(/\d+$/.exec(readlinkSync("/proc/thread-self"))![0]);
  } catch {
    return undefined;
  }
}

/** The capability to raise a priority (capabilities(7)). */
const CAP_SYS_NICE = 1n << 23n;

/** Whether this process may raise a thread to this niceness: without the capability, a limit allows it (getrlimit(2), RLIMIT_NICE). */
function mayRaiseTo(niceness: number): boolean {
  const [, capabilities = "0"] = /^CapEff:\s*(\w+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  const [, limit = "0"] = /^Max nice priority\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return (BigInt(`0x${capabilities}`) & CAP_SYS_NICE) > 0n || 20 - Number(limit) <= niceness;
}

/** Lowers the priority of a thread, and restores it. Changes nothing where it could not be restored. */
export class ThreadPriority {
  #thread: number | undefined;
  readonly #usual = getPriority();
  #isLow = false;

  constructor(thread: number | undefined) {
    if (thread === undefined || !mayRaiseTo(this.#usual)) return;
    this.#thread = thread;
    // A sandbox may forbid what the kernel says it allows: then this is one step, and not all the way down.
    this.#set(Math.min(this.#usual + 1, constants.priority.PRIORITY_LOW));
    this.#set(this.#usual);
  }

  set(isLow: boolean): void {
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    this.#set(isLow ? constants.priority.PRIORITY_LOW : this.#usual);
  }

  #set(niceness: number): void {
    if (this.#thread === undefined) return;
    try {
      setPriority(this.#thread, niceness);
    } catch {
      this.#thread = undefined;
    }
  }
}

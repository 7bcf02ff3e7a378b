import { readFileSync } from "node:fs";
import { constants } from "node:os";

/** Not those that were ignored at the start, as `nohup` and a shell's `&` do: a handler would take that back. */
const SIGNALS = (["SIGINT", "SIGTERM", "SIGHUP"] as const).filter((signal) => !isIgnored(signal));

/** What to undo when somebody interrupts the command. */
const undos = new Set<() => void>();

/**
 * Undoes something when the command is interrupted, which then says so and ends. Only for commands that may be repeated.
 * Returns a function that takes it back, for when the work has ended.
 */
export function onInterruption(undo: () => void): () => void {
  if (undos.size === 0) for (const signal of SIGNALS) process.on(signal, end);
  undos.add(undo);
  return () => {
    undos.delete(undo);
    if (undos.size === 0) for (const signal of SIGNALS) process.off(signal, end);
  };
}

function end(): void {
  for (const undo of undos) undo();
  process.stderr.write("plant-store: Interrupted. It is safe to repeat the command.\n");
  process.exit(1);
}

/** As Linux says it: a bit for each signal. Elsewhere none counts as ignored. */
function isIgnored(signal: NodeJS.Signals): boolean {
  try {
    const [, mask = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";

const undos = new Set<() => void>();

/**
 * Undoes something when the command is interrupted, which then says so and ends. Only for commands that may be repeated.
 * Returns a function that takes it back, for when the work has ended.
 */
export function onInterruption(undo: () => void): () => void {
  const signals = withoutIgnored(["SIGINT", "SIGTERM", "SIGHUP"]);
  if (undos.size === 0) for (const signal of signals) process.on(signal, end);
  undos.add(undo);
  return () => {
    undos.delete(undo);
    if (undos.size === 0) for (const signal of signals) process.off(signal, end);
  };
}

function end(): void {
  for (const undo of undos) undo();
  process.stderr.write("plant-store: Interrupted. It is safe to repeat the command.\n");
  process.exit(1);
}

/**
 * Without those that were ignored at the start, as `nohup` and a shell's `&` do: a handler would take that back. Linux has
 * a bit for each signal that is ignored. Elsewhere none counts as ignored.
 */
export function withoutIgnored(signals: readonly NodeJS.Signals[]): readonly NodeJS.Signals[] {
  const status = "/proc/self/status";
  const [, digits = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(existsSync(status) ? readFileSync(status, "utf8") : "") ?? [];
  const ignored = BigInt(`0x${digits}`);
  return signals.filter((signal) => ((ignored >> BigInt(constants.signals[signal] - 1)) & 1n) === 0n);
}

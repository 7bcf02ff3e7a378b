import { withoutIgnored } from "./ignored-signals.ts";

const SIGNALS = withoutIgnored(["SIGINT", "SIGTERM", "SIGHUP"]);

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

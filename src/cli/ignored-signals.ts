import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";

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

import { createLog, withFields } from "../runtime/log.ts";
import type { Log, LogLevel } from "../runtime/log.ts";
import { describeFailure } from "../runtime/system-failure.ts";

/** What a command says of its store while it runs, on standard error. Errors are in words, without their place in the program. */
export function createCommandLog(level: LogLevel): Log {
  const log = createLog({ level, isTerminal: true, write: (line) => process.stderr.write(line), now: Date.now });
  return withFields(log, (fields = {}) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toWords(value)])));
}

function toWords(value: unknown): unknown {
  return value instanceof Error ? describeFailure(value) : value;
}

import { styleText } from "node:util";
import type { Metrics } from "./metrics.ts";
import { escapeControls } from "./terminal-text.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Writes one line for each event. An event is a lower-case name that never changes; what varies goes into the fields.
 */
export type Log = Readonly<Record<LogLevel, (event: string, fields?: Fields) => void> & { isDebug: boolean }>;

type LogOptions = Readonly<{
  level: LogLevel;
  /** Short coloured lines for people instead of JSON for machines. */
  isTerminal: boolean;
  /** Begin each line with its priority, as the journal of systemd expects it (sd-daemon(3)). */
  isJournal?: boolean;
  write: (line: string) => void;
  now: () => number;
}>;

/** RFC 5424, 6.2.1. */
const PRIORITIES = { debug: 7, info: 6, warn: 4, error: 3 } as const satisfies Record<LogLevel, number>;

export function createLog({ level, isTerminal, isJournal = false, write, now }: LogOptions): Log {
  const format = isTerminal ? toTerminalLine : toJsonLine;
  function at(lineLevel: LogLevel): (event: string, fields?: Fields) => void {
    if (LOG_LEVELS.indexOf(lineLevel) < LOG_LEVELS.indexOf(level)) return () => {};
    const prefix = isJournal ? `<${PRIORITIES[lineLevel]}>` : "";
    return (event, fields = {}) =>
      write(`${prefix}${hideTokens(formatSafely(format, { time: new Date(now()).toISOString(), level: lineLevel, event, fields }))}\n`);
  }
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), isDebug: level === "debug" };
}

/** The same log, with other fields in each line. */
export function withFields(log: Log, change: (fields: Fields | undefined) => Fields | undefined): Log {
  const at = (level: LogLevel) => (event: string, fields?: Fields) => log[level](event, change(fields));
  return { ...log, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The events that deserve an alarm while the service runs. */
const ALARMING = [
  ["error", "store_trouble"],
  ["error", "store_unfit"],
  ["error", "unexpected_error"],
  ["error", "wal_missing"],
  ["warn", "log_gap"],
] as const;

/** A log that also counts the warnings and errors by their event: alerts need not read it. */
export function countEvents(log: Log, metrics: Metrics): Log {
  const events = metrics.counter({
    name: "plant_store_log_events_total",
    help: "Warnings and errors in the log by event, also those below the level that is logged.",
    labels: ["level", "event"],
  });
  // From zero on, or the first of them would look as if it had always been there: no increase, no alarm.
  for (const [level, event] of ALARMING) events(level, event);
  function counting(level: "warn" | "error"): Log["warn"] {
    return (event, fields) => {
      events(level, event).value += 1;
      log[level](event, fields);
    };
  }
  return { ...log, warn: counting("warn"), error: counting("error") };
}

type Line = Readonly<{ time: string; level: LogLevel; event: string; fields: Fields }>;

/** An error may contain what JSON cannot represent, such as itself. Its event is still logged. */
function formatSafely(format: (line: Line) => string, line: Line): string {
  try {
    return format(line);
  } catch (reason) {
    return format({ ...line, fields: { unloggable: String(reason) } });
  }
}

const COLOURS = { debug: "gray", info: "green", warn: "yellow", error: "red" } as const satisfies Record<LogLevel, string>;

function toJsonLine({ time, level, event, fields }: Line): string {
  // The JSON value stays the same, but is safe to read on a terminal.
  return escapeControls(JSON.stringify({ time, level, event, ...fields }, toLoggable));
}

function toTerminalLine({ time, level, event, fields }: Line): string {
  const pairs = Object.entries(fields).map(([name, value]) =>
    escapeControls(`${name}=${typeof value === "string" ? value : JSON.stringify(value, toLoggable)}`),
  );
  return [styleText("gray", time.slice(11, 19)), styleText(COLOURS[level], event), ...pairs].join(" ");
}

/**
 * How many causes are logged. An error may be its own cause: following it until the stack overflows would take seconds.
 */
const CAUSES_MAX = 8;

function toLoggable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error ? toFields(value, CAUSES_MAX) : value;
}

function toFields({ name, message, stack, cause }: Error, causesMax: number): Fields {
  const next = cause instanceof Error ? (causesMax > 0 ? toFields(cause, causesMax - 1) : undefined) : cause;
  return { name, message, stack, ...(next === undefined ? {} : { cause: next }) };
}

// No code logs a token. If a bug ever does, the token still does not get out.
function hideTokens(line: string): string {
  return line.replaceAll(/plant_[0-9A-Za-z]{32,}/g, "plant_[hidden]");
}

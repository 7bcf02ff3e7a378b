import { styleText } from "node:util";
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
  write: (line: string) => void;
  now: () => number;
}>;

export function createLog({ level, isTerminal, write, now }: LogOptions): Log {
  const format = isTerminal ? toTerminalLine : toJsonLine;
  function at(lineLevel: LogLevel): (event: string, fields?: Fields) => void {
    if (LOG_LEVELS.indexOf(lineLevel) < LOG_LEVELS.indexOf(level)) return () => {};
    return (event, fields = {}) =>
      write(`${hideTokens(formatSafely(format, { time: new Date(now()).toISOString(), level: lineLevel, event, fields }))}\n`);
  }
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), isDebug: level === "debug" };
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

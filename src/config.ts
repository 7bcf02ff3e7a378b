import { BlockList, isIP, isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { CHANGE_LOGS } from "./auth/audit.ts";
import type { ChangeLog } from "./auth/audit.ts";
import { LOG_LEVELS } from "./log.ts";
import type { LogLevel } from "./log.ts";
import { parseTraceSettings } from "./tracing/trace-settings.ts";
import type { TraceSettings } from "./tracing/trace-settings.ts";

/** Where plants and tokens are kept. */
type Database = Readonly<{ kind: "sqlite"; path: string }> | Readonly<{ kind: "postgres"; url: string }>;

export type Config = Readonly<{
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** The data folder, absolute. */
  data: string;
  database: Database;
  /** Where metrics are served; undefined means nowhere. */
  metrics: Readonly<{ host: string; port: number }> | undefined;
  /** Where traces are sent, and what is traced; undefined means nothing is. */
  traces: TraceSettings | undefined;
  log: LogLevel;
  logChanges: ChangeLog;
  bodyBytesMax: number;
  connectionsMax: number;
  queueMax: number;
  queueWaitMs: number;
  /** For each token, each address, and each address without a valid token; 0 means no limit. */
  tokenRequestsPerMinute: number;
  addressRequestsPerMinute: number;
  refusedRequestsPerMinute: number;
  /** The proxies whose word on the client's address we trust; undefined means none. */
  trustedProxies: BlockList | undefined;
  /** The header that they write it into. */
  trustedHeader: (typeof TRUSTED_HEADERS)[number];
  /** The origins of other pages that may use the service, as browsers send them. */
  origins: readonly string[];
  /** How long to report unready before the server stops listening, so that a load balancer notices. */
  drainDelayMs: number;
  drainMs: number;
}>;

/** A proxy writes one of them, and passes on what the client has written into the other. */
const TRUSTED_HEADERS = ["x-forwarded-for", "forwarded"] as const;

/** Settings of our own. Those of traces are the variables that OpenTelemetry has for all programs. */
export type SettingName = Exclude<keyof Config, "traces">;

/** A setting as text, with where it came from. */
export type SettingInForce = Readonly<{ name: SettingName; text: string; origin: "default" | "environment" | "flag" }>;

/** All mistakes in the settings, one line each. */
export class ConfigError extends Error {
  /** `command`: whose help lists what there is. */
  constructor(problems: readonly string[], command: string) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join("\n")}\nSee \`plant-store ${command} --help\`.`);
    this.name = "ConfigError";
  }
}

export type Setting = Readonly<{
  variable: `PLANT_STORE_${string}`;
  flag: `--${string}`;
  operand: string;
  choices?: readonly string[];
  fallback: string;
  help: string;
}>;

/** All settings. A flag overrides its variable, which overrides the default. */
export const SETTINGS = {
  host: {
    variable: "PLANT_STORE_HOST",
    flag: "--host",
    operand: "address",
    fallback: "127.0.0.1",
    help: "address to listen on; 0.0.0.0 means every IPv4 address of the machine",
  },
  port: {
    variable: "PLANT_STORE_PORT",
    flag: "--port",
    operand: "number",
    fallback: "8080",
    help: "port to listen on; 0 picks a free one",
  },
  data: {
    variable: "PLANT_STORE_DATA",
    flag: "--data",
    operand: "folder",
    fallback: "./data",
    help: "data folder; serve and import create it if it is missing",
  },
  database: {
    variable: "PLANT_STORE_DATABASE",
    flag: "--database",
    operand: "name",
    fallback: "sqlite",
    help: "sqlite for a file in the data folder, or postgres://user:password@host:5432/name for PostgreSQL",
  },
  metrics: {
    variable: "PLANT_STORE_METRICS",
    flag: "--metrics",
    operand: "address",
    fallback: "none",
    help: "address and port for GET /metrics, without a token, such as 127.0.0.1:9464; only your monitoring should reach it",
  },
  log: {
    variable: "PLANT_STORE_LOG",
    flag: "--log",
    operand: "level",
    choices: LOG_LEVELS,
    fallback: "info",
    help: "lowest level to log; debug logs every request",
  },
  logChanges: {
    variable: "PLANT_STORE_LOG_CHANGES",
    flag: "--log-changes",
    operand: "how",
    choices: CHANGE_LOGS,
    fallback: "sum",
    help: "how to log changes to plants; sum is one line for each token and minute",
  },
  bodyBytesMax: {
    variable: "PLANT_STORE_BODY_BYTES_MAX",
    flag: "--body-bytes-max",
    operand: "bytes",
    fallback: "65536",
    help: "largest body of a request",
  },
  connectionsMax: {
    variable: "PLANT_STORE_CONNECTIONS_MAX",
    flag: "--connections-max",
    operand: "number",
    fallback: "8192",
    help: "connections that may be open; beyond that, the one that has waited longest for a request is closed",
  },
  queueMax: {
    variable: "PLANT_STORE_QUEUE_MAX",
    flag: "--queue-max",
    operand: "number",
    fallback: "1024",
    help: "writes of one token that may wait for the disk or the database; all tokens together may have twice as many; more get 503",
  },
  queueWaitMs: {
    variable: "PLANT_STORE_QUEUE_WAIT_MS",
    flag: "--queue-wait-ms",
    operand: "ms",
    fallback: "1000",
    help: "how long a write may wait for the disk, or a request for the database, before it gets 503",
  },
  tokenRequestsPerMinute: {
    variable: "PLANT_STORE_TOKEN_REQUESTS_PER_MINUTE",
    flag: "--token-requests-per-minute",
    operand: "number",
    fallback: "0",
    help: "requests of one token; more get 429; 0 means no limit",
  },
  addressRequestsPerMinute: {
    variable: "PLANT_STORE_ADDRESS_REQUESTS_PER_MINUTE",
    flag: "--address-requests-per-minute",
    operand: "number",
    fallback: "0",
    help: "requests of all tokens of one IP address together; more get 429; 0 means no limit",
  },
  refusedRequestsPerMinute: {
    variable: "PLANT_STORE_REFUSED_REQUESTS_PER_MINUTE",
    flag: "--refused-requests-per-minute",
    operand: "number",
    fallback: "600",
    help: "requests of one IP address without a valid token, which get 401; more get 429; 0 means no limit",
  },
  trustedProxies: {
    variable: "PLANT_STORE_TRUSTED_PROXIES",
    flag: "--trusted-proxies",
    operand: "addresses",
    fallback: "none",
    help: "proxies that may say who the client is: addresses and networks, separated by commas, such as 127.0.0.1,10.0.0.0/8",
  },
  trustedHeader: {
    variable: "PLANT_STORE_TRUSTED_HEADER",
    flag: "--trusted-header",
    operand: "name",
    fallback: "x-forwarded-for",
    help: "header into which these proxies write the client's address: x-forwarded-for or forwarded (RFC 7239)",
  },
  origins: {
    variable: "PLANT_STORE_ORIGINS",
    flag: "--origins",
    operand: "origins",
    fallback: "none",
    help: "other origins whose pages may use the service from a browser, separated by commas, such as https://garden.example",
  },
  drainDelayMs: {
    variable: "PLANT_STORE_DRAIN_DELAY_MS",
    flag: "--drain-delay-ms",
    operand: "ms",
    fallback: "0",
    help: "behind a load balancer: how long /readyz answers 503 before the service stops",
  },
  drainMs: {
    variable: "PLANT_STORE_DRAIN_MS",
    flag: "--drain-ms",
    operand: "ms",
    fallback: "8000",
    help: "how long a stop waits for requests that are being served",
  },
} as const satisfies Record<SettingName, Setting>;

/** Variables of the commands that talk to a service, not settings of the service itself. */
const CLIENT_VARIABLES = ["PLANT_STORE_URL", "PLANT_STORE_TOKEN"];

type Texts = Readonly<Partial<Record<SettingName, string>>>;

/** The settings as given, before they are validated: for `plant-store config`. */
export function settingsInForce(environment: NodeJS.ProcessEnv, flags: Texts): SettingInForce[] {
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const { variable, fallback } = SETTINGS[name];
    const flag = flags[name];
    if (flag !== undefined) return { name, text: flag, origin: "flag" };
    const given = environment[variable];
    return given === undefined ? { name, text: fallback, origin: "default" } : { name, text: given, origin: "environment" };
  });
}

/** A setting that is safe to show: an address without its password. */
export function withoutSecrets(text: string): string {
  return text.replace(/^(\w+:\/\/[^:@]*):.*@/s, "$1:***@").replaceAll(/([?&]password=)[^&]*/gi, "$1***");
}

/** What was called: the command, such as "token create", and what of its words belongs to nothing. */
type Called = Readonly<{ command: string; unknown: readonly string[] }>;

const SERVE: Called = { command: "serve", unknown: [] };

/** Parses the settings. Throws one ConfigError that names every wrong or unknown one. */
export function parseConfig(environment: NodeJS.ProcessEnv, flags: Texts, { command, unknown } = SERVE): Config {
  const variables: string[] = [...Object.values(SETTINGS).map(({ variable }) => variable), ...CLIENT_VARIABLES];
  const strangers = Object.keys(environment).filter((name) => name.startsWith("PLANT_STORE_") && !variables.includes(name));
  const problems = [...strangers, ...unknown].map((name) =>
    /^(-|PLANT_STORE_)/.test(name) ? `${name} is not a known setting.` : `${name} is one word too many.`,
  );

  const inForce = settingsInForce(environment, flags);
  const { text, integer, oneOf, address, networks, origins, database } = createReader(inForce, problems);
  const data = resolve(text("data"));
  const config: Config = {
    host: text("host"),
    port: integer("port", { min: 0, max: 65_535 }),
    data,
    database: database("database", join(data, "plants.db")),
    metrics: address("metrics"),
    traces: parseTraceSettings(environment, problems),
    log: oneOf("log", LOG_LEVELS),
    logChanges: oneOf("logChanges", CHANGE_LOGS),
    bodyBytesMax: integer("bodyBytesMax", { min: 1024, max: 64 * 1024 * 1024 }),
    connectionsMax: integer("connectionsMax", { min: 1, max: 1_000_000 }),
    queueMax: integer("queueMax", { min: 1, max: 1_000_000 }),
    queueWaitMs: integer("queueWaitMs", { min: 10, max: 60_000 }),
    tokenRequestsPerMinute: integer("tokenRequestsPerMinute", { min: 0, max: 1_000_000 }),
    addressRequestsPerMinute: integer("addressRequestsPerMinute", { min: 0, max: 1_000_000 }),
    refusedRequestsPerMinute: integer("refusedRequestsPerMinute", { min: 0, max: 1_000_000 }),
    trustedProxies: networks("trustedProxies"),
    trustedHeader: oneOf("trustedHeader", TRUSTED_HEADERS),
    origins: origins("origins"),
    drainDelayMs: integer("drainDelayMs", { min: 0, max: 60_000 }),
    drainMs: integer("drainMs", { min: 0, max: 60_000 }),
  };
  if (problems.length > 0) throw new ConfigError(problems, unknown.length > 0 ? command : "serve");
  return config;
}

/**
 * Readers that record a problem and go on, so that one message can name all problems. They never repeat a value: it may
 * contain a password.
 */
function createReader(inForce: readonly SettingInForce[], problems: string[]) {
  function find(name: SettingName): { given: string; where: string } {
    const { text: given = "", origin = "default" } = inForce.find((setting) => setting.name === name) ?? {};
    return { given, where: origin === "flag" ? SETTINGS[name].flag : SETTINGS[name].variable };
  }
  return {
    text(name: SettingName): string {
      const { given, where } = find(name);
      if (given === "") problems.push(`${where} must not be empty.`);
      return given;
    },
    integer(name: SettingName, { min, max }: { min: number; max: number }): number {
      const { given, where } = find(name);
      const value = Number(given);
      if (!/^\d+$/.test(given) || value < min || value > max) problems.push(`${where} must be a whole number from ${min} to ${max}.`);
      return value;
    },
    oneOf<Choice extends string>(name: SettingName, choices: readonly Choice[]): Choice {
      const { given, where } = find(name);
      const choice = choices.find((candidate) => candidate === given);
      if (choice === undefined) problems.push(`${where} must be ${choices.length > 1 ? `one of ${choices.join(", ")}` : choices[0]}.`);
      return choice ?? choices[0]!;
    },
    address(name: SettingName): Config["metrics"] {
      const { given, where } = find(name);
      if (given === "none") return undefined;
      const [, host = "", port = ""] = /^(\[[\da-f:.]+\]|[^\s:/]+):(\d{1,5})$/i.exec(given) ?? [];
      if (host === "" || Number(port) > 65_535) problems.push(`${where} must be none, or an address and a port, such as 127.0.0.1:9464.`);
      return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
    },
    networks(name: SettingName): BlockList | undefined {
      const { given, where } = find(name);
      if (given === "none") return undefined;
      const list = new BlockList();
      for (const network of given.split(",")) {
        const [, address = "", bits] = /^\s*([^/\s]+)(?:\/(\d{1,3}))?\s*$/.exec(network) ?? [];
        const bitsMax = isIPv4(address) ? 32 : 128;
        if (isIP(address) !== 0 && Number(bits ?? 0) <= bitsMax)
          list.addSubnet(address, Number(bits ?? bitsMax), isIPv4(address) ? "ipv4" : "ipv6");
        else problems.push(`${where} must be none, or addresses and networks separated by commas, such as 127.0.0.1,10.0.0.0/8.`);
      }
      return list;
    },
    origins(name: SettingName): readonly string[] {
      const { given, where } = find(name);
      if (given === "none") return [];
      const origins = given.split(",").map((origin) => origin.trim());
      if (!origins.every(isOrigin)) {
        const example = "https://garden.example,http://localhost:5173";
        problems.push(
          `${where} must be none, or exact origins separated by commas, such as ${example}: as browsers send them, without a path or a slash at the end, and neither * nor null.`,
        );
      }
      return origins;
    },
    database(name: SettingName, path: string): Database {
      const { given, where } = find(name);
      if (/^postgres(ql)?:\/\/./.test(given)) return { kind: "postgres", url: given };
      if (given !== "sqlite") problems.push(`${where} must be sqlite, or an address such as postgres://user:password@host:5432/name.`);
      return { kind: "sqlite", path };
    },
  };
}

/** Whether a browser sends this text as the origin of a page: a scheme, a host, and the port unless it is the usual one. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

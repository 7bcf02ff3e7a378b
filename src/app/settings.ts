import { CHANGE_LOGS } from "../auth/audit.ts";
import { LOG_LEVELS } from "../runtime/log.ts";

type Row = Readonly<{ operand: string; choices?: readonly string[]; fallback: string; help: string }>;

/** The variable and the flag follow from the name: `queueMax` is PLANT_STORE_QUEUE_MAX and --queue-max. */
export type Setting = Row & Readonly<{ variable: string; flag: string }>;

const TABLE = {
  host: {
    operand: "address",
    fallback: "127.0.0.1",
    help: "address to listen on; 0.0.0.0 means every IPv4 address of the machine",
  },
  port: {
    operand: "number",
    fallback: "8080",
    help: "port to listen on; 0 picks a free one",
  },
  data: {
    operand: "folder",
    fallback: "./data",
    help: "data folder; serve, import and restore create it if it is missing",
  },
  database: {
    operand: "name",
    fallback: "sqlite",
    help: "sqlite for a file in the data folder, or postgres://user:password@host:5432/name for PostgreSQL",
  },
  metrics: {
    operand: "address",
    fallback: "none",
    help: "address and port for GET /metrics, without a token, such as 127.0.0.1:9464; only your monitoring should reach it",
  },
  log: {
    operand: "level",
    choices: LOG_LEVELS,
    fallback: "info",
    help: "lowest level to log; debug logs every request",
  },
  logChanges: {
    operand: "how",
    choices: CHANGE_LOGS,
    fallback: "sum",
    help: "how to log changes to plants; sum is one line for each token and minute",
  },
  bodyBytesMax: {
    operand: "bytes",
    fallback: "65536",
    help: "largest body of a request",
  },
  connectionsMax: {
    operand: "number",
    fallback: "8192",
    help: "connections that may be open; beyond that, the one that has waited longest for a request is closed",
  },
  queueMax: {
    operand: "number",
    fallback: "1024",
    help: "writes of one token that may wait for the disk or the database; all tokens together may have twice as many; more get 503",
  },
  queueWaitMs: {
    operand: "ms",
    fallback: "1000",
    help: "how long a write may wait for the disk, or a request for the database, before it gets 503",
  },
  tokenRequestsPerMinute: {
    operand: "number",
    fallback: "0",
    help: "requests of one token; more get 429; 0 means no limit",
  },
  addressRequestsPerMinute: {
    operand: "number",
    fallback: "0",
    help: "requests of all tokens of one IP address together; more get 429; 0 means no limit",
  },
  refusedRequestsPerMinute: {
    operand: "number",
    fallback: "600",
    help: "requests of one IP address without a valid token, which get 401; more get 429; 0 means no limit",
  },
  trustedProxies: {
    operand: "addresses",
    fallback: "none",
    help: "trusted proxies, whose header names the client: addresses and networks, separated by commas, such as 127.0.0.1,10.0.0.0/8",
  },
  trustedHeader: {
    operand: "name",
    fallback: "x-forwarded-for",
    help: "header into which these proxies write the client's address: x-forwarded-for or forwarded (RFC 7239)",
  },
  origins: {
    operand: "origins",
    fallback: "none",
    help: "other origins whose pages may use the service from a browser, separated by commas, such as https://garden.example",
  },
  changesDays: {
    operand: "days",
    fallback: "30",
    help: "how long changes are kept for those who follow them, and for people to look at and take back; 0 keeps none",
  },
  drainDelayMs: {
    operand: "ms",
    fallback: "0",
    help: "behind a load balancer: how long /readyz answers 503 before the service stops",
  },
  drainMs: {
    operand: "ms",
    fallback: "8000",
    help: "how long a stop waits for requests that are being served",
  },
} as const satisfies Record<string, Row>;

export type SettingName = keyof typeof TABLE;

/**
 * All settings of our own. A flag overrides its variable, which overrides the default. Those of traces are the variables
 * that OpenTelemetry has for all programs.
 */
export const SETTINGS = Object.fromEntries(
  Object.entries(TABLE).map(([name, row]): [string, Setting] => {
    const words = name.split(/(?=[A-Z])/).join("-");
    return [name, { ...row, variable: `PLANT_STORE_${words.replaceAll("-", "_").toUpperCase()}`, flag: `--${words.toLowerCase()}` }];
  }),
) as Readonly<Record<SettingName, Setting>>;

export type SettingInForce = Readonly<{ name: SettingName; text: string; origin: "default" | "environment" | "flag" }>;

/** Variables of the commands that talk to a service, not settings of the service itself. */
const CLIENT_VARIABLES = ["PLANT_STORE_URL", "PLANT_STORE_TOKEN"];

export type FlagTexts = Readonly<Partial<Record<SettingName, string>>>;

/** Variables with our prefix that mean nothing: a typing error, or a setting that is gone. */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const known: string[] = [...Object.values(SETTINGS).map(({ variable }) => variable), ...CLIENT_VARIABLES];
  return Object.keys(environment).filter(
    (name) => name.startsWith("PLANT_STORE_") && !known.includes(name) && !isServiceLink(name, environment[name]),
  );
}

/**
 * Whether Kubernetes made the variable, for a service whose name begins with plant-store: an address of it, not a setting
 * of ours.
 */
export function isServiceLink(name: string, value = ""): boolean {
  const isAddress = name.endsWith("_PORT") && /^(tcp|udp|sctp):\/\/\S+:\d+$/.test(value);
  return isAddress || /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?$/.test(name);
}

/** The settings as given, before they are validated: for `plant-store config`. */
export function settingsInForce(environment: NodeJS.ProcessEnv, flags: FlagTexts): SettingInForce[] {
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const { variable, fallback } = SETTINGS[name];
    const flag = flags[name];
    if (flag !== undefined) return { name, text: flag, origin: "flag" };
    const given = environment[variable];
    return given === undefined || isServiceLink(variable, given)
      ? { name, text: fallback, origin: "default" }
      : { name, text: given, origin: "environment" };
  });
}

/** A setting that is safe to show: an address without its password. */
export function withoutSecrets(text: string): string {
  return text.replace(/^(\w+:\/\/[^:@]*):.*@/s, "$1:***@").replaceAll(/([?&]password=)[^&]*/gi, "$1***");
}

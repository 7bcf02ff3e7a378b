import { BlockList, isIP, isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { CHANGE_LOGS } from "../auth/audit.ts";
import { LOG_LEVELS } from "../runtime/log.ts";
import { SETTINGS, settingsInForce, unknownVariables } from "./settings.ts";
import type { FlagTexts, SettingInForce, SettingName } from "./settings.ts";
import { parseTraceSettings } from "../tracing/trace-settings.ts";

type Database = Readonly<{ kind: "sqlite"; path: string }> | Readonly<{ kind: "postgres"; url: string }>;

type Address = Readonly<{ host: string; port: number }>;

/** A proxy writes one of them, and passes on what the client has written into the other. */
const TRUSTED_HEADERS = ["x-forwarded-for", "forwarded"] as const;

export class ConfigError extends Error {
  /** `command`: whose help lists what there is. */
  constructor(problems: readonly string[], command: string) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join("\n")}\nSee \`plant-store ${command} --help\`.`);
    this.name = "ConfigError";
  }
}

/** What was called wrongly: mistakes in its words, and the command, such as "token create", whose help lists what there is. */
type WrongCall = Readonly<{ command: string; mistakes: readonly string[] }>;

export type Config = ReturnType<typeof parseConfig>;

/** Parses the settings. Throws one ConfigError that names every wrong or unknown one. */
export function parseConfig(environment: NodeJS.ProcessEnv, flags: FlagTexts, wrong?: WrongCall) {
  const problems = unknownVariables(environment).map((name) => `${name} is not a known setting.`);
  problems.push(...(wrong?.mistakes ?? []));
  const inForce = settingsInForce(environment, flags).map((setting) => unwrapped(setting, problems));
  const tracing: string[] = [];
  const traces = parseTraceSettings(environment, tracing);
  const read = new SettingReader(inForce, problems);
  const data = resolve(read.folder("data"));
  const config = {
    host: read.host("host"),
    /** 0 takes any free port. */
    port: read.integer("port", { min: 0, max: 65_535 }),
    /** The data folder, absolute. */
    data,
    database: read.database("database", join(data, "plants.db")),
    /** Where metrics are served; undefined means nowhere. */
    metrics: read.address("metrics"),
    /** Where traces are sent, and what is traced; undefined means nothing is. */
    traces: tracing.length > 0 ? undefined : traces,
    /** What is wrong with their variables, for which there are none. They are meant for all programs of the machine. */
    tracesOff: tracing.length > 0 ? tracing.join(" ") : undefined,
    log: read.oneOf("log", LOG_LEVELS),
    logChanges: read.oneOf("logChanges", CHANGE_LOGS),
    bodyBytesMax: read.integer("bodyBytesMax", { min: 1024, max: 64 * 1024 * 1024 }),
    connectionsMax: read.integer("connectionsMax", { min: 1, max: 1_000_000 }),
    queueMax: read.integer("queueMax", { min: 1, max: 1_000_000 }),
    queueWaitMs: read.integer("queueWaitMs", { min: 10, max: 60_000 }),
    /** For each token, each address, and each address without a valid token; 0 means no limit. */
    tokenRequestsPerMinute: read.integer("tokenRequestsPerMinute", { min: 0, max: 1_000_000 }),
    addressRequestsPerMinute: read.integer("addressRequestsPerMinute", { min: 0, max: 1_000_000 }),
    refusedRequestsPerMinute: read.integer("refusedRequestsPerMinute", { min: 0, max: 1_000_000 }),
    /** The proxies whose word on the client's address we trust; undefined means none. */
    trustedProxies: read.networks("trustedProxies"),
    /** The header that they write it into. */
    trustedHeader: read.oneOf("trustedHeader", TRUSTED_HEADERS),
    /** The origins of other pages that may use the service, as browsers send them. */
    origins: read.origins("origins"),
    /** 0 keeps no changes. */
    changesDays: read.integer("changesDays", { min: 0, max: 60 }),
    /** How long to report unready before the server stops listening, so that a load balancer notices. */
    drainDelayMs: read.integer("drainDelayMs", { min: 0, max: 60_000 }),
    drainMs: read.integer("drainMs", { min: 0, max: 60_000 }),
  } as const satisfies Record<SettingName, unknown> & Record<string, unknown>;
  if (problems.length > 0) throw new ConfigError(problems, wrong?.command ?? "serve");
  return config;
}

/**
 * The value of a variable without what stands around it because of the file it came from: quotes, which `docker
 * --env-file` keeps, and the line ends of Windows. That is a mistake, not a folder of this name.
 */
function unwrapped(setting: SettingInForce, problems: string[]): SettingInForce {
  if (setting.origin !== "environment") return setting;
  const text = setting.text.trim();
  // A quote on one side is what is left where a value is cut at a space.
  const bare = text.replaceAll(/^["']|["']$/g, "");
  const { variable } = SETTINGS[setting.name];
  if (bare !== text) problems.push(`${variable} has quotes around its value: remove them from where it is set.`);
  else if (text !== setting.text)
    problems.push(`${variable} has spaces or a line end around its value: remove them; a Windows file has lines that end with CR LF.`);
  return { ...setting, text: bare };
}

/**
 * Reads settings. Records a problem and goes on, so that one message can name all problems. Never repeats a value: it may
 * contain a password.
 */
class SettingReader {
  readonly #inForce: readonly SettingInForce[];
  readonly #problems: string[];

  constructor(inForce: readonly SettingInForce[], problems: string[]) {
    this.#inForce = inForce;
    this.#problems = problems;
  }

  folder(name: SettingName): string {
    const { text } = this.#find(name);
    if (text === "") this.#refuse(name, "must not be empty.");
    // The runtime has put it in the place of each byte that it could not read: the name is that of another folder.
    if (text.includes("\ufffd")) this.#refuse(name, "must be UTF-8: give the folder a name that is, or name it by a link.");
    return text;
  }

  /** The runtime takes anything else, such as an asterisk, for all addresses of the machine. */
  host(name: SettingName): string {
    const { text } = this.#find(name);
    if (isIP(text) === 0 && !/^[\w.-]+$/.test(text))
      this.#refuse(name, "must be an address or a name, such as 127.0.0.1 or 0.0.0.0 for all.");
    return text;
  }

  integer(name: SettingName, { min, max }: { min: number; max: number }): number {
    const { text } = this.#find(name);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) this.#refuse(name, `must be a whole number from ${min} to ${max}.`);
    return value;
  }

  oneOf<Choice extends string>(name: SettingName, choices: readonly Choice[]): Choice {
    const { text } = this.#find(name);
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) this.#refuse(name, `must be one of ${choices.join(", ")}.`);
    return choice ?? choices[0]!;
  }

  address(name: SettingName): Address | undefined {
    const { text } = this.#find(name);
    if (text === "none") return undefined;
    const [, host = "", port = ""] = /^(\[[\da-f:.]+\]|[^\s:/]+):(\d{1,5})$/i.exec(text) ?? [];
    if (host === "" || Number(port) > 65_535) this.#refuse(name, "must be none, or an address and a port, such as 127.0.0.1:9464.");
    return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
  }

  networks(name: SettingName): BlockList | undefined {
    const { text } = this.#find(name);
    if (text === "none") return undefined;
    const list = new BlockList();
    for (const network of text.split(",")) {
      const [, address = "", bits] = /^\s*([^/\s]+)(?:\/(\d{1,3}))?\s*$/.exec(network) ?? [];
      const bitsMax = isIPv4(address) ? 32 : 128;
      if (isIP(address) !== 0 && Number(bits ?? 0) <= bitsMax)
        list.addSubnet(address, Number(bits ?? bitsMax), isIPv4(address) ? "ipv4" : "ipv6");
      else this.#refuse(name, "must be none, or addresses and networks separated by commas, such as 127.0.0.1,10.0.0.0/8.");
    }
    return list;
  }

  origins(name: SettingName): readonly string[] {
    const { text } = this.#find(name);
    if (text === "none") return [];
    const origins = text.split(",").map((origin) => origin.trim());
    if (!origins.every(isOrigin))
      this.#refuse(
        name,
        "must be none, or exact origins separated by commas, such as https://garden.example,http://localhost:5173: as browsers send them, without a path or a slash at the end, and neither * nor null.",
      );
    return origins;
  }

  database(name: SettingName, path: string): Database {
    const { text } = this.#find(name);
    if (/^postgres(ql)?:\/\/./.test(text)) return { kind: "postgres", url: text };
    if (text !== "sqlite") this.#refuse(name, "must be sqlite, or an address such as postgres://user:password@host:5432/name.");
    return { kind: "sqlite", path };
  }

  #find(name: SettingName): SettingInForce {
    return this.#inForce.find((setting) => setting.name === name)!;
  }

  #refuse(name: SettingName, problem: string): void {
    const { flag, variable } = SETTINGS[name];
    this.#problems.push(`${this.#find(name).origin === "flag" ? flag : variable} ${problem}`);
  }
}

/** Whether a browser sends this text as the origin of a page: a scheme, a host, and the port unless it is the usual one. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

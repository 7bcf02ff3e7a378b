/** The servers that a connection string names. One is in use; the others are for failover. */
export type Hosts = Readonly<{
  /** For people. Holds no secrets. */
  name: string;
  /** How many servers there are. */
  count: number;
  /** The connection string of the server in use. */
  current(): string;
  /** Switches to the next server, if this connection string is still the one in use. */
  leave(url: string): void;
  /** The servers that are not in use, each alone. What their connections find out counts for all. */
  others(): readonly Hosts[];
  /** Notes where a server writes. Returns whether another one was promoted since, as far as connections have found out. */
  isOvertaken(timeline: Timeline): boolean;
  /** Whether a server may have the password in clear, however it is reached. */
  allowsCleartext: boolean;
  /** Another server, `host:port`, with the same user, password, database and options. */
  at(server: string): Hosts;
  /**
   * The schema of our tables, quoted, among those `searched`, to which the search path of the user leads (an array in text
   * form). Once it is known, other tables of the same names are not ours. Statements call it `store`.
   */
  schema: { name: string | undefined; searched: string };
  /** Whether a connection has found a pooler in front of the servers. Never forgotten: the next one may not show it. */
  pooler: { isFound: boolean };
}>;

/**
 * Where a server writes. A copy is of the same system. Its promotion begins the next timeline, in hexadecimal digits
 * (postgresql.org/docs/current/continuous-archiving.html, "Timelines").
 */
export type Timeline = readonly [system: string, number: string];

// Rejects a raw @, / or # in a password: the rest would be read as a host or a database, and those are not secret.
const FORM = /^(?<head>postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)(?<hosts>[^@/?#]*)(?<database>\/[^@?#]*)?(?<options>\?[^#]*)?$/s;

/** Does not repeat the address: it may contain a password. */
const INVALID =
  "The address of the database is invalid: write it as postgres://user:password@host:5432/name, with %40 for an @, %2F for a /, %3F for a ? and %23 for a # in the password.";

/** Any value will do. */
const ANY: readonly string[] = [];

/** What may stand behind the `?`, with its values. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  sslmode: ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"],
  ssl: ["true", "1"],
  sslrootcert: ANY,
  sslcert: ANY,
  sslkey: ANY,
  sslnegotiation: ["postgres", "direct"],
  host: ANY,
  port: ANY,
  user: ANY,
  password: ANY,
  application_name: ANY,
  options: ANY,
  require_auth: ["password"],
  // Addresses that providers show have these. They ask for what the service does anyway.
  channel_binding: ["disable", "prefer", "require"],
  connect_timeout: ANY,
  gssencmode: ["disable", "prefer"],
  keepalives: ANY,
  keepalives_count: ANY,
  keepalives_idle: ANY,
  keepalives_interval: ANY,
  pgbouncer: ["true", "false"],
  target_session_attrs: ["any", "primary", "read-write"],
  tcp_user_timeout: ANY,
};

/**
 * Parses a connection string. It may name several servers, separated by commas, as libpq allows
 * (postgresql.org/docs/current/libpq-connect.html, "Specifying Multiple Hosts"). Throws when it is invalid.
 */
export function parseHosts(text: string): Hosts {
  const { head = "", hosts = "", database = "", options: given = "" } = FORM.exec(text)?.groups ?? {};
  const options = readOptions(given);
  const names = hosts.split(",");
  const servers = names.map((host) => ({ host, url: `${head}${host}${database}${options}` }));
  // No URL has a user without a host, but libpq knows such an address: its options name the folder of a Unix socket.
  const isElsewhere = hosts === "" && /[?&]host=/.test(options);
  const parsed = isElsewhere ? [`${head}localhost${database}${options}`] : servers.map(({ url }) => url);
  if (!parsed.every((url) => URL.canParse(url))) throw new Error(INVALID);
  const pooler = { isFound: false };
  const newest = new Map<string, string>();

  function open(some: typeof servers): Hosts {
    let at = 0;
    return {
      schema: { name: undefined, searched: "{}" },
      name: `PostgreSQL ${some.map(({ host }) => host).join()}${database}`,
      count: some.length,
      current: () => some[at]!.url,
      leave(url) {
        if (url === some[at]!.url) at = (at + 1) % some.length;
      },
      others: () => some.filter((_, place) => place !== at).map((server) => open([server])),
      isOvertaken([system, number]) {
        const known = newest.get(system) ?? "";
        if (number < known) return true;
        newest.set(system, number);
        return false;
      },
      allowsCleartext: new URLSearchParams(given).has("require_auth"),
      at: (server) => parseHosts(`${head}${server}${database}${options}`),
      pooler,
    };
  }
  return open(servers);
}

/**
 * Throws when an option is unknown: the driver would ignore it, as a mistyped `sslmode` that was to encrypt. Says all that
 * asks for a certificate that is checked as the driver does it, which warns that other words for that will mean less.
 */
function readOptions(text: string): string {
  const options = Object.fromEntries(new URLSearchParams(text));
  for (const [name, value] of Object.entries(options)) {
    const values = Object.hasOwn(OPTIONS, name) ? OPTIONS[name]! : undefined;
    // Behind a raw ? in a password, this is a part of it.
    if (values === undefined && (text.includes("@") || !/^\w+$/.test(name))) throw new Error(INVALID);
    if (values === undefined)
      throw new Error(`The address of the database has an unknown option, ${name}: known are ${Object.keys(OPTIONS).join(", ")}.`);
    if (values !== ANY && !values.includes(value))
      throw new Error(`In the address of the database, ${name} must be one of ${values.join(", ")}.`);
  }
  const { ssl, sslmode = "", sslrootcert, channel_binding } = options;
  // To the driver, sslmode alone counts.
  if (ssl !== undefined && sslmode === "disable")
    throw new Error("The address of the database has ssl and sslmode=disable: leave one out.");
  const isSystem = sslrootcert === "system";
  const isChecked = ["prefer", "require", "verify-ca"].includes(sslmode) || isSystem || channel_binding === "require";
  // The last one of a name counts.
  return `${text}${isSystem ? "&sslrootcert=" : ""}${isChecked ? "&sslmode=verify-full" : ""}`;
}

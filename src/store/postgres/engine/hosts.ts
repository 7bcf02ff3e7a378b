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
  /** Another server, `host:port`, with the same user, password, database and options. */
  at(server: string): Hosts;
  /** What the connections have found in front of the servers. Never forgotten: the next connection may not show it. */
  pooler: { kind: PoolerKind };
}>;

/**
 * A pooler may give each transaction another connection to the server. It tells its clients numbers of its own, or
 * numbers of the server's processes, with which a cancel may reach another client.
 */
type PoolerKind = "none" | "own numbers" | "server numbers";

// Rejects a raw @, / or # in a password: the rest would be read as a host or a database, and those are not secret.
const FORM = /^(?<head>postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)(?<hosts>[^@/?#]*)(?<database>\/[^@?#]*)?(?<options>\?.*)?$/s;

const ADVICE = "write it as postgres://user:password@host:5432/name, with %40 for an @, %2F for a / and %23 for a # in the password";

/**
 * Parses a connection string. It may name several servers, separated by commas, as libpq allows
 * (postgresql.org/docs/current/libpq-connect.html, "Specifying Multiple Hosts"). Throws when it is invalid.
 */
export function parseHosts(text: string): Hosts {
  const { head = "", hosts = "", database = "", options = "" } = FORM.exec(text)?.groups ?? {};
  const names = hosts.split(",");
  const urls = names.map((host) => `${head}${host}${database}${options}`);
  // No URL has a user without a host, but libpq knows such an address: its options name the folder of a Unix socket.
  const isElsewhere = hosts === "" && /[?&]host=/.test(options);
  const parsed = isElsewhere ? [`${head}localhost${database}${options}`] : urls;
  // Do not repeat the address: it may contain a password.
  if (!parsed.every((url) => URL.canParse(url))) throw new Error(`The address of the database is invalid: ${ADVICE}.`);
  let at = 0;
  return {
    name: `PostgreSQL ${hosts}${database}`,
    count: urls.length,
    current: () => urls[at]!,
    leave(url) {
      if (url === urls[at]) at = (at + 1) % urls.length;
    },
    at: (server) => parseHosts(`${head}${server}${database}${options}`),
    pooler: { kind: "none" },
  };
}

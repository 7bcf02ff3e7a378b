/** The servers that a connection string names, of which one is in use: the others are there for when it fails. */
export type Hosts = Readonly<{
  /** For people, without secrets. */
  name: string;
  /** The connection string of the server in use. */
  current(): string;
  /** Turns to the next server, if the one with this connection string is still in use. */
  leave(url: string): void;
}>;

// An @ or / that stands in a password as it is would make the rest of it a host or a database, which are told.
const FORM = /^(?<head>postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?<hosts>[^@/?#]*)(?<database>\/[^@?#]*)?(?<options>\?.*)?$/s;

const ADVICE = "write it as postgres://user:password@host:5432/name, with %40 for an @, %2F for a / and %23 for a # in the password";

/**
 * Reads a connection string, in which several servers may stand, separated by commas, as in that of libpq
 * (postgresql.org/docs/current/libpq-connect.html, "Specifying Multiple Hosts"). Throws when it is none.
 */
export function parseHosts(text: string): Hosts {
  const { head = "", hosts = "", database = "", options = "" } = FORM.exec(text)?.groups ?? {};
  const names = hosts.split(",");
  const urls = names.map((host) => `${head}${host}${database}${options}`);
  // The address is not repeated: it may hold a password.
  if (!urls.every((url) => URL.canParse(url))) throw new Error(`The address of the database cannot be read: ${ADVICE}.`);
  let at = 0;
  return {
    name: `PostgreSQL ${hosts}${database}`,
    current: () => urls[at]!,
    leave(url) {
      if (url === urls[at]) at = (at + 1) % urls.length;
    },
  };
}

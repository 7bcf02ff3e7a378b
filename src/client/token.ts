import { parseFields, parseList } from "./plant.ts";

/** What a token may do. */
export type Scope = "plants:read" | "plants:write" | "admin";

/** A token as it may know itself. Times are RFC 3339 in UTC. */
export type Session = Readonly<{
  id: string;
  name: string;
  scopes: readonly Scope[];
  created: string;
  /** Left out when it does not expire. */
  expires?: string;
  /** The id of the token that made it. Left out when it was made on the machine of the service. */
  parent?: string;
}>;

/** A token without its secret. Times are RFC 3339 in UTC. */
export type Token = Session &
  Readonly<{
    /** Left out when it was not revoked. */
    revoked?: string;
    /** When it last let a request in, to the minute. Left out when it never has. */
    lastUsed?: string;
  }>;

/**
 * What a token is for, 1 to 100 characters; what it may do; and the days, of 24 hours, until it expires, above 0 and at most
 * 36,500. It gets no scope that the token lacks which makes it (error 40300), and expires with that one at the latest.
 */
export type NewToken = Readonly<{ name: string; scopes: readonly Scope[]; days?: number }>;

/** A token that was just made. Its secret, `token`, is told this once. */
export type CreatedToken = Token & Readonly<{ token: string }>;

/** Reads a session from parsed JSON, without fields that this version does not know. Throws a TypeError when it is none. */
export function parseSession(value: unknown): Session {
  const fields = parseFields(value);
  const scopes = parseList(fields["scopes"], parseText) as Scope[];
  const [id, name, created] = [fields["id"], fields["name"], fields["created"]].map(parseText) as [string, string, string];
  const { expires, parent } = fields;
  return {
    id,
    name,
    scopes,
    created,
    ...(expires === undefined ? {} : { expires: parseText(expires) }),
    ...(parent === undefined ? {} : { parent: parseText(parent) }),
  };
}

/** Reads a token from parsed JSON, without fields that this version does not know. Throws a TypeError when it is none. */
export function parseToken(value: unknown): Token {
  const { revoked, lastUsed } = parseFields(value);
  return {
    ...parseSession(value),
    ...(revoked === undefined ? {} : { revoked: parseText(revoked) }),
    ...(lastUsed === undefined ? {} : { lastUsed: parseText(lastUsed) }),
  };
}

/** Throws a TypeError. */
export function parseCreatedToken(value: unknown): CreatedToken {
  return { ...parseToken(value), token: parseText(parseFields(value)["token"]) };
}

function parseText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("not a text");
  return value;
}

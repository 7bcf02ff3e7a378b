import { optional, parseList, parseObject, parseText } from "./json.ts";
import type { Fields } from "./json.ts";

/** What a token may do. */
export type Scope = "plants:read" | "plants:write" | "admin";

/** What a token may know of itself. Times are RFC 3339 in UTC. */
export type Session = Readonly<{
  id: string;
  name: string;
  scopes: readonly Scope[];
  created: string;
  /** Absent if it does not expire. */
  expires?: string;
  /** The id of the token that created it. Absent if it was created on the service's own machine. */
  parent?: string;
}>;

/** A token without its secret. Times are RFC 3339 in UTC. */
export type Token = Session &
  Readonly<{
    /** Absent if it has not been revoked. */
    revoked?: string;
    /** When it last authorized a request, to the minute. Absent if it never has. */
    lastUsed?: string;
  }>;

/**
 * `name`: what the token is for, 1 to 100 characters. `days`: days of 24 hours until it expires, above 0 and at most
 * 36,500. `expires`: when it expires, in RFC 3339, instead of `days`. It gets no scope that the token creating it lacks
 * (error 40300), and expires no later than that one.
 */
export type NewToken = Readonly<{ name: string; scopes: readonly Scope[]; days?: number; expires?: string }>;

/** A new token. Its secret, `token`, is shown only now. */
export type CreatedToken = Token & Readonly<{ token: string }>;

const SESSION: Fields<Session> = {
  id: parseText,
  name: parseText,
  scopes: (value) => parseList(value, parseText) as Scope[],
  created: parseText,
  expires: optional(parseText),
  parent: optional(parseText),
};

const TOKEN: Fields<Token> = { ...SESSION, revoked: optional(parseText), lastUsed: optional(parseText) };

/** Throws a TypeError, like the next two. */
export function parseSession(value: unknown): Session {
  return parseObject(value, SESSION);
}

export function parseToken(value: unknown): Token {
  return parseObject(value, TOKEN);
}

export function parseCreatedToken(value: unknown): CreatedToken {
  return parseObject<CreatedToken>(value, { ...TOKEN, token: parseText });
}

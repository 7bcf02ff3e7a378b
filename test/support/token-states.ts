import { randomBytes } from "node:crypto";
import { createToken } from "../../src/auth/secret.ts";
import type { RequiredScope, Scope } from "../../src/domain/scope.ts";

/** The tokens of a service. */
export type Tokens = Readonly<Record<"all" | "expired" | "revoked" | Scope, string>>;

/** The credentials of a request: its header lines, what it adds to its path, and its scopes, or why it has none. */
export type State = Readonly<{
  why: string;
  lines: (tokens: Tokens) => readonly string[];
  query?: (tokens: Tokens) => string;
  has: "no token" | "no valid token" | readonly Scope[];
}>;

const ALL: readonly Scope[] = ["plants:read", "plants:write", "admin"];

export const STATES: readonly State[] = [
  { why: "no header", lines: () => [], has: "no token" },
  ...["", "Basic dXNlcjpwYXNz", "Digest x", "Token x", "bearertoken", "Bearer-x abc"].map((value): State => ({
    why: `the header "${value}"`,
    lines: () => [`Authorization: ${value}`],
    has: "no token",
  })),
  { why: "a good token without its scheme", lines: ({ all }) => [`Authorization: ${all}`], has: "no token" },
  { why: "a good token of another scheme", lines: ({ all }) => [`Authorization: Basic ${all}`], has: "no token" },
  {
    why: "a good token in another header",
    lines: ({ all }) => [`Proxy-Authorization: Bearer ${all}`, `X-Api-Key: ${all}`],
    has: "no token",
  },
  { why: "a good token in a cookie", lines: ({ all }) => [`Cookie: access_token=${all}; Authorization=Bearer ${all}`], has: "no token" },
  { why: "a good token in the URL", lines: () => [], query: ({ all }) => `?access_token=${all}`, has: "no token" },
  {
    why: "a good token behind another scheme in a header of its own",
    lines: ({ all }) => ["Authorization: Basic x", `Authorization: Bearer ${all}`],
    has: "no token",
  },
  ...["Bearer", "Bearer ", "Bearer garbage", "Bearer plant_", `Bearer ${"x".repeat(8000)}`].map((value): State => ({
    why: `the header "${value.slice(0, 20)}"`,
    lines: () => [`Authorization: ${value}`],
    has: "no valid token",
  })),
  bad("a token that was never issued", () => createToken(randomBytes)),
  bad("a good token with a wrong checksum", ({ all }) => all.replace(/.$/, (last) => (last === "0" ? "1" : "0"))),
  bad("a good token in small letters", ({ all }) => all.toLowerCase()),
  bad("a good token cut short", ({ all }) => all.slice(0, -1)),
  bad("a good token and 8000 bytes more", ({ all }) => all + "x".repeat(8000)),
  bad("a good token in quotes", ({ all }) => `"${all}"`),
  bad("two good tokens", ({ all }) => `${all} ${all}`),
  bad("an expired token", ({ expired }) => expired),
  bad("a revoked token", ({ revoked }) => revoked),
  {
    why: "a good token in two headers",
    lines: ({ all }) => [`Authorization: Bearer ${all}`, `Authorization: Bearer ${all}`],
    has: "no valid token",
  },
  {
    why: "a good token before another scheme in a header of its own",
    lines: ({ all }) => [`Authorization: Bearer ${all}`, "Authorization: Basic x"],
    has: "no valid token",
  },
  ...ALL.map((scope): State => ({
    why: `a token for ${scope}`,
    lines: (tokens) => [`Authorization: Bearer ${tokens[scope]}`],
    has: [scope],
  })),
  { why: "a token for all", lines: ({ all }) => [`Authorization: Bearer ${all}`], has: ALL },
  { why: "a token for all, with the scheme in another case", lines: ({ all }) => [`AUTHORIZATION: bEARER   ${all}`], has: ALL },
];

function bad(why: string, credentials: (tokens: Tokens) => string): State {
  return { why, lines: (tokens) => [`Authorization: Bearer ${credentials(tokens)}`], has: "no valid token" };
}

/** A status, the number of an error, and the header WWW-Authenticate. */
export type Outcome = Readonly<{ status: number; error?: number | undefined; challenge?: string | undefined }>;

/** A request: its response to callers with the scope, however often it is sent. Without a scope, no token is needed. */
export type Request = Readonly<{ scope?: RequiredScope; status: number; error?: number }>;

/** The required response to a request, by RFC 6750, 3.1. */
export function wantedOf({ scope, status, error }: Request, { has, query }: State): Outcome {
  const realm = 'Bearer realm="plant-store"';
  // Without a need for a token, a token in the URL is an unknown parameter.
  if (scope === undefined) return query ? { status: 400, error: 40006 } : { status };
  if (has === "no token") return { status: 401, error: 40100, challenge: realm };
  if (has === "no valid token") return { status: 401, error: 40101, challenge: `${realm}, error="invalid_token"` };
  if (scope === "any" || has.includes(scope)) return { status, error };
  return { status: 403, error: 40300, challenge: `${realm}, error="insufficient_scope", scope="${scope}"` };
}

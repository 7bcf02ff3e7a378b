/** What a token may do. */
export const SCOPES = ["plants:read", "plants:write", "admin"] as const;

export type Scope = (typeof SCOPES)[number];

/** What the contract says of an operation as `x-scope`: the scope that a token needs, or that any valid token will do. */
export type RequiredScope = Scope | "any";

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

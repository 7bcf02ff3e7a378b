export const SCOPES = ["plants:read", "plants:write", "admin"] as const;

export type Scope = (typeof SCOPES)[number];

/**
 * The `x-scope` of an operation in the contract: the scope that a token needs, or "any" when every valid token will do.
 */
export type RequiredScope = Scope | "any";

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

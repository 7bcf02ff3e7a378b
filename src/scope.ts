/** What a token may do. The contract names the scope of each operation as `x-scope`. */
export const SCOPES = ["plants:read", "plants:write", "admin"] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

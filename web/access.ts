import type { Session } from "../src/client/client.ts";

/** What the page may do with the token that it has: it offers nothing else. */
export type Access = Readonly<{ read: boolean; write: boolean; admin: boolean }>;

export function accessOf(who: Session | undefined): Access {
  const scopes = who?.scopes ?? [];
  return { read: scopes.includes("plants:read"), write: scopes.includes("plants:write"), admin: scopes.includes("admin") };
}

import type { Schemas } from "../../contract/generated/schemas.ts";
import type { Token } from "../store/tokens.ts";

/** A token as its holder may know it. */
export function toSession({ id, name, scopes, created, expires, parent }: Token): Schemas["Session"] {
  return {
    id,
    name,
    scopes,
    created: toTime(created),
    ...(expires === undefined ? {} : { expires: toTime(expires) }),
    ...(parent === undefined ? {} : { parent }),
  };
}

/** A token as the service and the commands show it. */
export function toTokenJson(token: Token): Schemas["Token"] {
  const { revoked, lastUsed } = token;
  return {
    ...toSession(token),
    ...(revoked === undefined ? {} : { revoked: toTime(revoked) }),
    ...(lastUsed === undefined ? {} : { lastUsed: toTime(lastUsed) }),
  };
}

/** RFC 3339, in UTC. */
export function toTime(time: number): string {
  return new Date(time).toISOString();
}

import type { Schemas } from "../../contract/generated/schemas.ts";
import { tokenOf } from "../principal.ts";
import type { Token } from "../store/tokens.ts";
import type { Handlers } from "./router.ts";

/** Tells callers who they are, what they may do, and until when. */
export function sessionHandlers(): Pick<Handlers, "getSession"> {
  return {
    getSession: ({ principal }) => ({
      status: 200,
      body: JSON.stringify(toSession(tokenOf(principal))),
      headers: { "cache-control": "no-store" },
    }),
  };
}

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

/** RFC 3339, in UTC. */
export function toTime(time: number): string {
  return new Date(time).toISOString();
}

import { toSession } from "../auth/token-json.ts";
import { tokenOf } from "../auth/principal.ts";
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

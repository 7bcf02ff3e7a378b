import type { Client } from "./calls.ts";
import { request } from "./request.ts";
import type { ClientContext } from "./request.ts";
import { parseSession } from "./token.ts";

export function sessionCalls(context: ClientContext): Pick<Client, "session"> {
  return {
    async session({ signal } = {}) {
      const outgoing = { method: "GET", path: "/session", isRepeatable: true, signal } as const;
      return request(context, outgoing, ({ body }) => parseSession(body));
    },
  };
}

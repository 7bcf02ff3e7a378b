import type { Client } from "./calls.ts";
import { request } from "./request.ts";
import type { Connection } from "./request.ts";
import { parseSession } from "./token.ts";

export function sessionCalls(connection: Connection): Pick<Client, "session"> {
  return {
    async session({ signal } = {}) {
      const outgoing = { method: "GET", path: "/session", isRepeatable: true, signal } as const;
      return request(connection, outgoing, ({ body }) => parseSession(body));
    },
  };
}

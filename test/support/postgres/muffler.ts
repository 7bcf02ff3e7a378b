import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { readMessages, stringsOf } from "./messages.ts";

type Address = Readonly<{ host: string; port: number }>;

/** What a router for shards does with several statements in one message, as that of SPQR does: it drops the rows. */
export async function startMuffler({ target }: Readonly<{ target: Address }>) {
  const clients = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (client) => {
    clients.add(client.once("close", () => clients.delete(client)));
    const server = connect({ ...target, noDelay: true });
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      one.on("error", () => {}).once("close", () => other.destroy());
    }
    void route(client, server);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  return {
    /** The URL of a database through the router. */
    url(databaseUrl: string): string {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
      return url.href;
    },
    stop(): void {
      listener.close();
      for (const client of clients) client.destroy();
    },
  };
}

async function route(client: Socket, server: Socket): Promise<void> {
  let isMuffled = false;
  void (async () => {
    for await (const { type, bytes } of readMessages(server, "server")) {
      // A number of its own, as a pooler gives.
      if (type === "K") bytes.writeInt32BE(bytes.readInt32BE(5) + 1, 5);
      if (!isMuffled || !ROWS.has(type)) client.write(bytes);
      if (type === "Z") isMuffled = false;
    }
  })();
  for await (const message of readMessages(client, "client")) {
    isMuffled ||= message.type === "Q" && stringsOf(message)[0].includes(";");
    server.write(message.bytes);
  }
}

/** RowDescription and DataRow. */
const ROWS: ReadonlySet<string> = new Set(["T", "D"]);

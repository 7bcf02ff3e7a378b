import { connect, type Socket } from "node:net";
import { readMessages, stringsOf } from "./messages.ts";
import { listenAsStandIn, type StandIn } from "./stand-in.ts";

type Address = Readonly<{ host: string; port: number }>;

/** What a router for shards does with several statements in one message, as that of SPQR does: it drops the rows. */
export function startMuffler({ target }: Readonly<{ target: Address }>): Promise<StandIn> {
  return listenAsStandIn((client) => {
    const server = connect({ ...target, noDelay: true });
    server.on("error", () => {}).once("close", () => client.destroy());
    client.once("close", () => server.destroy());
    void route(client, server);
  });
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

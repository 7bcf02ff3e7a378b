import { connect, type Socket } from "node:net";
import { readMessages, stringsOf } from "./messages.ts";
import { listenAsStandIn, type StandIn } from "./stand-in.ts";

type Address = Readonly<{ host: string; port: number }>;

/** Statements that pgpool-II takes for reads of the data: they write nothing, and ask no table of the system. */
const READ = /^\s*SELECT(?![^]*\bpg_class\b)(?!.*;)/i;

/**
 * A pooler that answers reads from a standby and everything else from the primary, as pgpool-II 4.3 does by default.
 * Only statements without parameters count as reads here: these are what a connection begins with.
 */
export function startSplitter({ primary, standby }: Readonly<{ primary: Address; standby: Address }>): Promise<StandIn> {
  return listenAsStandIn((client) => void split(client, open(primary, client), open(standby, client)));
}

function open(target: Address, client: Socket): Socket {
  const server = connect({ ...target, noDelay: true });
  server.on("error", () => client.destroy());
  client.once("close", () => server.destroy());
  return server.once("close", () => client.destroy());
}

async function split(client: Socket, primary: Socket, standby: Socket): Promise<void> {
  void answer(primary, client, true);
  void answer(standby, client, false);
  for await (const message of readMessages(client, "client")) {
    const isRead = message.type === "Q" && READ.test(stringsOf(message)[0]);
    if (message.type === "startup" || isRead) standby.write(message.bytes);
    if (!isRead) primary.write(message.bytes);
  }
}

/** Passes on what a server answers: to the startup, which ends with ReadyForQuery, only one of them. */
async function answer(server: Socket, client: Socket, isFirst: boolean): Promise<void> {
  let isStarted = isFirst;
  for await (const { type, bytes } of readMessages(server, "server")) {
    if (isStarted) client.write(bytes);
    isStarted ||= type === "Z";
  }
}

import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Faults, openFaults } from "./faults.ts";
import { listenAsStandIn, type StandIn } from "./stand-in.ts";
import type { FaultSource, StatementFault } from "./faults.ts";
import { errorResponse, EXECUTE_NOTHING, type Message, readMessages, stringsOf, SYNC, UNREADABLE } from "./messages.ts";

type Address = Readonly<{ host: string; port: number }>;

/** A proxy between the service and a PostgreSQL, which breaks what passes between them. */
export type Proxy = Faults &
  StandIn &
  Readonly<{
    /** Routes new connections to another server. Open ones stay: cut them. */
    pointAt(target: Address): void;
  }>;

export async function startProxy({ target }: Readonly<{ target: Address }>): Promise<Proxy> {
  const { takeForStartup, takeForStatement, count, ...faults } = openFaults();
  let { host, port } = target;
  const standIn = await listenAsStandIn(
    (client) => void relay({ client, target: { host, port }, faults: { takeForStartup, takeForStatement, count } }),
  );
  return {
    ...faults,
    ...standIn,
    pointAt(other) {
      ({ host, port } = other);
    },
  };
}

type RelayOptions = Readonly<{
  client: Socket;
  target: Readonly<{ host: string; port: number }>;
  faults: Pick<FaultSource, "takeForStartup" | "takeForStatement" | "count">;
}>;

/** What the server answers with one ReadyForQuery, and the faults of that response. */
type Batch = { fault?: StatementFault };

type Connection = Omit<RelayOptions, "target"> &
  Readonly<{
    server: Socket;
    messages: AsyncGenerator<Message>;
    /** Those not answered yet, oldest first. */
    batches: Batch[];
  }>;

/** How long the half of a torn message has to arrive: a reset may overtake it. */
const TEAR_MS = 20;

/** Relays one connection from start to end. */
async function relay({ client, target, faults }: RelayOptions): Promise<void> {
  const messages = readMessages(client, "client");
  const first = await readFirst(client, messages);
  if (!first) return;
  const refusal = first.type === "startup" ? faults.takeForStartup() : undefined;
  if (refusal) {
    faults.count(refusal);
    client.end(errorResponse("FATAL", refusal.sqlstate, refusal));
    return discard(messages);
  }
  const server = connect({ ...target, noDelay: true });
  server.on("error", () => {});
  server.write(first.bytes);
  // The startup is a batch too: it ends with ReadyForQuery.
  const connection = { client, server, messages, faults, batches: [{}] };
  await Promise.all([sendStatements(connection), sendAnswers(connection)]);
}

/** The startup message, after refusing any request for encryption. */
async function readFirst(client: Socket, messages: AsyncGenerator<Message>): Promise<Message | undefined> {
  for (;;) {
    const { value } = (await messages.next()) as IteratorResult<Message, undefined>;
    if (value?.type !== "encryption") return value;
    client.write("N");
  }
}

/** Reads to the end: closing a connection with unread data resets it, and the client would lose our last message. */
async function discard(messages: AsyncGenerator<Message>): Promise<void> {
  for await (const _ of messages);
}

async function sendStatements({ client, server, messages, faults, batches }: Connection): Promise<void> {
  const textOf = openTexts();
  let batch: Batch | undefined;
  for await (const message of messages) {
    // A password belongs to the startup, and Terminate is not answered.
    if (!batch && !"pX".includes(message.type)) batches.push((batch = {}));
    const text = textOf(message);
    const fault = text === undefined ? undefined : faults.takeForStatement(text);
    if (batch && fault) batch.fault = fault;
    if (fault?.kind === "cut_before" || fault?.kind === "fatal") {
      faults.count(fault);
      server.destroy();
      if (fault.kind === "cut_before") client.destroy();
      else client.end(errorResponse("FATAL", fault.sqlstate));
      return discard(messages);
    }
    if (fault?.kind === "hold") {
      faults.count(fault);
      await sleep(fault.holdMs);
    }
    if (fault?.kind === "error") server.write(message.type === "Q" ? Buffer.concat([EXECUTE_NOTHING, SYNC]) : EXECUTE_NOTHING);
    else server.write(message.bytes);
    if (!"QS".includes(message.type)) continue;
    if (batch?.fault?.kind === "cut_during") {
      faults.count(batch.fault);
      client.destroy();
    }
    batch = undefined;
  }
  server.end();
}

async function sendAnswers({ client, server, faults, batches }: Connection): Promise<void> {
  for await (const { type, bytes } of readMessages(server, "server")) {
    const fault = batches[0]?.fault;
    if (type === "Z") batches.shift();
    if (fault?.kind === "cut_after" && type === "Z") {
      faults.count(fault);
      client.destroy();
    } else if (fault?.kind === "torn" && "CEI".includes(type)) {
      faults.count(fault);
      client.write(bytes.subarray(0, bytes.length / 2));
      await sleep(TEAR_MS);
      client.resetAndDestroy();
    } else if (fault?.kind === "garbled" && "CEI".includes(type)) {
      faults.count(fault);
      client.write(UNREADABLE);
    } else if (fault?.kind === "error" && type === "E") {
      faults.count(fault);
      client.write(errorResponse("ERROR", fault.sqlstate, fault));
    } else if (fault?.kind !== "cut_after" && fault?.kind !== "cut_during") {
      client.write(bytes);
    }
  }
  client.end();
}

/** Tracks the texts of prepared statements. Returns the text of an Execute or Query, and nothing for other messages. */
function openTexts(): (message: Message) => string | undefined {
  const statements = new Map<string, string>();
  const portals = new Map<string, string>();
  return (message) => {
    if (!"PBEQ".includes(message.type)) return undefined;
    const [first, second] = stringsOf(message);
    if (message.type === "P") statements.set(first, second);
    if (message.type === "B") portals.set(first, statements.get(second) ?? "");
    if (message.type === "Q") return first;
    return message.type === "E" ? (portals.get(first) ?? "") : undefined;
  };
}

import { connect, type Socket } from "node:net";
import { readMessages } from "./messages.ts";
import { listenAsStandIn, type StandIn } from "./stand-in.ts";

type Address = Readonly<{ host: string; port: number }>;

/** A connection to the server. Its first client started it, and its greeting is sent to all others. */
type Loan = { readonly server: Socket; readonly greeting: Buffer[]; client?: Socket | undefined };

/**
 * A pooler that lends the first free connection to each transaction, and greets each client with what the server said on
 * that connection: also the number of its process, as pgagroal 1.6 does in its transaction pipeline. It resets nothing.
 */
export async function startLender({ target }: Readonly<{ target: Address }>): Promise<StandIn> {
  const loans: Loan[] = [];

  /** The first free connection, or a new one. */
  async function lend(client: Socket, startup: Buffer): Promise<Loan> {
    const free = loans.find((loan) => loan.client === undefined);
    return free ? Object.assign(free, { client }) : open(client, startup);
  }

  async function open(client: Socket, startup: Buffer): Promise<Loan> {
    const loan: Loan = { server: connect({ ...target, noDelay: true }), greeting: [], client };
    loans.push(loan);
    loan.server.on("error", () => {});
    loan.server.write(startup);
    const greeted = Promise.withResolvers<void>();
    void passAnswers(loan, greeted.resolve);
    await greeted.promise;
    return loan;
  }

  async function passAnswers(loan: Loan, onGreeted: () => void): Promise<void> {
    let isGreeted = false;
    for await (const { type, bytes } of readMessages(loan.server, "server")) {
      if (isGreeted) loan.client?.write(bytes);
      else loan.greeting.push(bytes);
      if (type === "Z" && !isGreeted) onGreeted();
      else if (type === "Z" && bytes.at(-1) === IDLE) loan.client = undefined;
      isGreeted ||= type === "Z";
    }
    loans.splice(loans.indexOf(loan), 1);
    loan.client?.destroy();
  }

  async function serve(client: Socket): Promise<void> {
    let loan: Loan | undefined;
    let startup: Buffer | undefined;
    client.once("close", () => {
      // What it left unfinished ends with the connection.
      if (loan?.client === client) loan.server.destroy();
    });
    for await (const message of readMessages(client, "client")) {
      if (message.type === "X") return;
      if (message.type === "cancel")
        return void connect(target)
          .on("error", () => {})
          .end(message.bytes);
      if (loan?.client !== client) loan = await lend(client, (startup ??= message.bytes));
      if (message.type !== "startup") loan.server.write(message.bytes);
      else {
        client.write(Buffer.concat(loan.greeting));
        loan.client = undefined;
      }
    }
  }

  const standIn = await listenAsStandIn((client) => void serve(client).finally(() => client.end()));
  return {
    ...standIn,
    async stop() {
      await standIn.stop();
      for (const { server } of loans) server.destroy();
    },
  };
}

/** The state of ReadyForQuery outside of a transaction. */
const IDLE = "I".charCodeAt(0);

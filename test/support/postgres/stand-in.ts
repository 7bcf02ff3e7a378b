import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Where something listens that stands between the service and a PostgreSQL. */
export type StandIn = Readonly<{
  port: number;
  /** The URL of a database through it. */
  url(databaseUrl: string): string;
  cutAll(): void;
  /** Cuts all connections, and refuses new ones. */
  stop(): Promise<void>;
}>;

/** Hands each connection to `serve`. One that breaks just ends. */
export async function listenAsStandIn(serve: (client: Socket) => void): Promise<StandIn> {
  const clients = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (client) => {
    clients.add(client.once("close", () => clients.delete(client)));
    client.on("error", () => {});
    serve(client);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;

  function cutAll(): void {
    for (const client of clients) client.destroy();
  }
  return {
    port,
    url(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    cutAll,
    async stop() {
      const closed = once(listener, "close");
      listener.close();
      cutAll();
      await closed;
    },
  };
}

/** Passes everything on, but replaces a statement with a shorter one, as if the server were another one. */
export function startRewriter(
  { host, port }: Readonly<{ host: string; port: number }>,
  statement: string,
  instead: string,
): Promise<StandIn> {
  return listenAsStandIn((client) => {
    const server = connect({ host, port, noDelay: true });
    server.on("error", () => {}).once("close", () => client.destroy());
    client.once("close", () => server.destroy());
    client.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1").replace(statement, () => instead.padEnd(statement.length));
      server.write(Buffer.from(text, "latin1"));
    });
    server.pipe(client);
  });
}

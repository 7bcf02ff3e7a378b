import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";

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

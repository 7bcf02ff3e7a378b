import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { openFaults, type Faults } from "./faults.ts";
import { relay } from "./relay.ts";

type Address = Readonly<{ host: string; port: number }>;

/** A proxy between the service and a PostgreSQL, which breaks what passes between them. */
export type Proxy = Faults &
  Readonly<{
    port: number;
    /** The URL of a database through the proxy. */
    url(databaseUrl: string): string;
    /** Routes new connections to another server. Open ones stay: cut them. */
    pointAt(target: Address): void;
    cutAll(): void;
    /** Cuts all connections, and refuses new ones. */
    stop(): Promise<void>;
  }>;

export async function startProxy({ target }: Readonly<{ target: Address }>): Promise<Proxy> {
  const { takeForStartup, takeForStatement, count, ...faults } = openFaults();
  const clients = new Set<Socket>();
  let { host, port: targetPort } = target;
  const listener = createServer({ noDelay: true }, (client) => {
    clients.add(client.once("close", () => clients.delete(client)));
    void relay({ client, target: { host, port: targetPort }, faults: { takeForStartup, takeForStatement, count } });
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;

  function cutAll(): void {
    for (const client of clients) client.destroy();
  }
  return {
    ...faults,
    port,
    url(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    pointAt(other) {
      ({ host, port: targetPort } = other);
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

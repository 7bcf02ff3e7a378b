import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port of the loopback, below those that the kernel gives to clients: nothing else gets it between an end and the
 * next start.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.trunc(Math.random() * 15_000);
    const server = createServer();
    const isFree = await new Promise((resolve) =>
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)),
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

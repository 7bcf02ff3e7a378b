import { serveOn } from "./store.ts";

const REPLICAS = 3;

type How = Readonly<{ body?: unknown; headers?: Record<string, string>; secret?: string }>;

/** Services in separate processes on one database, each with its own folder. `killServices` ends them. */
export async function startReplicas(database: string, flags: readonly string[] = []) {
  const services = await Promise.all(Array.from({ length: REPLICAS }, () => serveOn(database, { flags })));
  // One of them has made it.
  const token = services.find((service) => service.token !== "")!.token;

  /** Sends a request to one of them, with the first token by default. */
  function ask(at: number, method: string, path: string, { body, headers = {}, secret = token }: How = {}): Promise<Response> {
    const all = { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers };
    return fetch(`${services[at]!.url}${path}`, { method, headers: all, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }
  /** The status of each response. */
  function askAll(method: string, path: string, how?: How): Promise<number[]> {
    return Promise.all(services.map(async (_, at) => (await ask(at, method, path, how)).status));
  }
  return { services, ask, askAll };
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { startProcess } from "../process.ts";
import type { ServiceProcess } from "../process.ts";
import { readToken } from "../service.ts";

const REPLICAS = 3;

/** Services as processes of their own on one database, each with a folder of its own. */
type Replicas = Readonly<{
  services: readonly ServiceProcess[];
  token: string;
  /** A request to one of them, with the first token unless another is given. */
  ask(at: number, method: string, path: string, how?: How): Promise<Response>;
  /** The status of the answer of each. */
  askAll(method: string, path: string, how?: How): Promise<number[]>;
  stop(): Promise<void>;
}>;

type How = Readonly<{ body?: unknown; headers?: Record<string, string>; secret?: string }>;

export async function startReplicas(database: string, flags: readonly string[] = []): Promise<Replicas> {
  const folders = Array.from({ length: REPLICAS }, () => temporaryFolder());
  const services = await Promise.all(folders.map((data) => startProcess({ data, flags: ["--database", database, ...flags] })));
  const token = await readToken(folders.find((data) => existsSync(join(data, "first-token")))!);

  function ask(at: number, method: string, path: string, { body, headers = {}, secret = token }: How = {}): Promise<Response> {
    const all = { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers };
    return fetch(`${services[at]!.url}${path}`, { method, headers: all, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  return {
    services,
    token,
    ask,
    askAll: (method, path, how) => Promise.all(services.map(async (_, at) => (await ask(at, method, path, how)).status)),
    stop: async () => void (await Promise.all(services.map((service) => service.end("SIGTERM")))),
  };
}

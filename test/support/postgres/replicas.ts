import { existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { startProcess } from "../process.ts";
import type { ServiceProcess } from "../process.ts";
import { readToken } from "../service.ts";

const REPLICAS = 3;

/** Services in separate processes on one database, each with its own folder. */
type Replicas = Readonly<{
  services: readonly ServiceProcess[];
  token: string;
  /** Sends a request to one of them, with the first token by default. */
  ask(at: number, method: string, path: string, how?: How): Promise<Response>;
  /** The status of each response. */
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

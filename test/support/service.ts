import { join } from "node:path";
import { parseConfig } from "../../src/config.ts";
import type { Log } from "../../src/log.ts";
import { createLog } from "../../src/log.ts";
import { start } from "../../src/service.ts";
import type { Running } from "../../src/service.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A whole service inside the test process, on a real port and a real store. */
export type TestService = Running &
  Readonly<{
    token: string;
    logged: readonly string[];
    /** POST /plants with exactly this body. */
    post: (body: string | Uint8Array, headers?: Record<string, string>) => Promise<Response>;
    /** A request with the first token and the given options. */
    request: (path: string, init?: Omit<RequestInit, "headers"> & { headers?: Record<string, string> }) => Promise<Response>;
  }>;

type TestOptions = Readonly<{
  /** A folder of built pages, if not the project's own. */
  web?: string;
}>;

/** `token` is the first token; empty if it no longer exists. */
export async function startTestService(flags: Record<string, string> = {}, { web }: TestOptions = {}): Promise<TestService> {
  const data = flags["data"] ?? temporaryFolder();
  const config = parseConfig({}, { port: "0", data, refusedRequestsPerMinute: "0", ...flags });
  const logged: string[] = [];
  const log: Log = createLog({ level: config.log, isTerminal: false, write: (line) => logged.push(line), now: Date.now });
  const running = await start(config, {
    log,
    onFatal(reason) {
      throw reason;
    },
    ...(web === undefined ? {} : { web }),
  });
  const token = running.tokenFile === undefined ? "" : await readToken(data);
  function request(path: string, init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}): Promise<Response> {
    return fetch(`${running.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  }
  return {
    ...running,
    token,
    logged,
    request,
    post: (body, headers = {}) =>
      request("/plants", { method: "POST", body: body, headers: { "content-type": "application/json", ...headers } }),
  };
}

export async function readToken(data: string): Promise<string> {
  return (await Bun.file(join(data, "first-token")).text()).trim();
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { findFreePort } from "../port.ts";
import { findProgram } from "../program.ts";
import { until } from "../until.ts";
import { findServerUser, serverFolder, writeForServer } from "./user.ts";

type Address = Readonly<{ host: string; port: number }>;

/** PgBouncer in front of a PostgreSQL, with its default settings but for the given ones. */
type Pooler = Readonly<{
  /** The URL of a database through the pooler. */
  url(databaseUrl: string): string;
  stop(): Promise<void>;
}>;

type PoolerOptions = Readonly<{ target: Address; settings: Readonly<Record<string, string>> }>;

export async function startPooler({ target, settings }: PoolerOptions): Promise<Pooler> {
  const program = findProgram("pgbouncer");
  const folder = serverFolder();
  const port = await findFreePort();
  const users = join(folder, "users");
  writeForServer(users, ["plants", "service"].map((user) => `"${user}" ""\n`).join(""));
  const place = { listen_addr: "127.0.0.1", listen_port: String(port), unix_socket_dir: "", auth_type: "trust", auth_file: users };
  const lines = Object.entries({ ...place, ...settings }).map(([name, value]) => `${name} = ${value}\n`);
  const path = join(folder, "pgbouncer.ini");
  writeForServer(path, `[databases]\n* = host=${target.host} port=${target.port}\n[pgbouncer]\n${lines.join("")}`);
  const child = spawn(program, [path], { ...findServerUser(), cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk) => (log += String(chunk)));
  const exited = once(child, "exit");
  await until("PgBouncer listens", () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}:\n${log}`);
    return log.includes("process up");
  });
  return {
    url(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { isLoopback } from "../../src/runtime/loopback.ts";
import { findProgram, needsThat } from "../support/program.ts";
import { runCommand } from "../support/process.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { openExecute } from "../support/postgres/store.ts";
import { giveToServer, serverFolder } from "../support/postgres/user.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PASSWORD = "s3cret";
const ALLOWED = "require_auth=password";

/** An address of this machine by which others reach it. What is sent there stays on the machine, which the service cannot know. */
const OUTSIDE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

/** A server that asks `careful` for the password itself, with a certificate that no one has signed. */
async function startAsking() {
  const folder = serverFolder();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=db", "-keyout", key, "-out", certificate];
  spawnSync(findProgram("openssl"), words);
  for (const path of [key, certificate]) giveToServer(path);
  chmodSync(key, 0o600);
  const cluster = await startCluster({
    settings: { listen_addresses: "*", ssl: "on", ssl_cert_file: certificate, ssl_key_file: key },
  });
  await cluster.query(`CREATE ROLE careful LOGIN PASSWORD '${PASSWORD}'`);
  const [row] = await cluster.query("SELECT current_setting('hba_file') AS hba, current_setting('unix_socket_directories') AS sockets");
  const path = String(row!["hba"]);
  writeFileSync(path, `host all careful all password\nlocal all careful password\n${readFileSync(path, "utf8")}`);
  await cluster.query("SELECT pg_reload_conf()");
  return { port: cluster.port, sockets: String(row!["sockets"]) };
}

/** Who is in the way of the server asks for the password, and keeps what it gets. */
async function startThief() {
  let heard = "";
  const thief = createServer((client) => {
    client.on("error", () => {});
    client.on("data", (bytes) => {
      heard += String(bytes);
      // AuthenticationCleartextPassword
      client.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    });
  });
  await once(thief.listen(0, OUTSIDE), "listening");
  return { port: (thief.address() as AddressInfo).port, heard: () => heard, close: () => thief.close() };
}

/** Resolves with what one statement returns, or why there is no connection. */
async function connect(url: string): Promise<string> {
  const { execute, close } = openExecute(url);
  const answer = await execute<[string]>({ text: "SELECT current_user" }, [], { isRepeatable: true }).catch(String);
  await close();
  return String(answer);
}

const REACHED = ["an address besides loopback", OUTSIDE !== undefined] as const;

needsThat(...REACHED, "openssl").describe("a server that asks for the password in clear", () => {
  it("gets it where no one can read it on the way, or where the address allows that", async () => {
    const { port, sockets } = await startAsking();
    const to = (host: string, option = "") => `postgres://careful:${PASSWORD}@${host}:${port}/postgres?${option}`;
    const refused = expect.stringContaining("The server asks for the password in plain text over an unencrypted connection: ");
    expect([
      await connect(to("127.0.0.1")),
      await connect(to("localhost", `host=${sockets}`)),
      await connect(to(OUTSIDE!, "sslmode=no-verify")),
      await connect(to(OUTSIDE!, ALLOWED)),
      await connect(to(OUTSIDE!)),
      await connect(to(OUTSIDE!, "sslmode=disable")),
    ]).toEqual(["careful", "careful", "careful", "careful", refused, refused]);
  });
});

needsThat(...REACHED).describe("what asks for the password in clear where someone could read it", () => {
  it("gets nothing of it, and the start says what to do", async () => {
    const { port, heard, close } = await startThief();
    const environment = { PLANT_STORE_DATABASE: `postgres://careful:${PASSWORD}@${OUTSIDE}:${port}/plants` };
    expect(await runCommand(["serve", "--port", "0", "--data", temporaryFolder()], { environment })).toEqual({
      status: 1,
      stdout: "",
      stderr:
        `plant-store: PostgreSQL ${OUTSIDE}:${port}/plants: The server asks for the password in plain text over an unencrypted connection:` +
        " add ?sslmode=verify-full to the address of the database, let the server use scram-sha-256, or allow it with require_auth=password.\n",
    });
    expect(heard()).toContain("careful");
    expect(heard()).not.toContain(PASSWORD);
    close();
  });
});

for (const [address, is] of [
  ["127.0.0.1", true],
  ["127.255.0.9", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["128.0.0.1", false],
  ["10.0.0.1", false],
  ["::ffff:10.0.0.1", false],
  ["fe80::1", false],
] as const) {
  it(`what is sent to ${address} ${is ? "stays" : "may not stay"} on this machine`, () => {
    expect(isLoopback(address)).toBe(is);
  });
}

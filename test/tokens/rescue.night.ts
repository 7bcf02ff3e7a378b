import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { cleanEnvironment, PROJECT, runCommand, startProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const BIN = join(PROJECT, "node_modules/.bin");

/** Starts the service on a terminal, as a person does. */
function startOnTerminal(words: readonly string[]) {
  const line = ["exec", process.execPath, join(PROJECT, "src/main.ts"), "serve", "--port", "0", ...words].join(" ");
  const child = spawn("script", ["-qefc", line, "/dev/null"], { env: cleanEnvironment(), stdio: ["pipe", "pipe", "inherit"] });
  let screen = "";
  child.stdout.on("data", (chunk) => (screen += String(chunk).replaceAll("\r", "")));
  const exited = once(child, "exit");
  return {
    screen: () => screen,
    async end() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

async function statusOf(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/tokens`, { headers: { authorization: `Bearer ${token}` } })).status;
}

describe("someone who has no token left", () => {
  for (const { engine, openFlags } of ENGINES) {
    it(`makes one with the line that a start prints, word for word, and may do all with it: ${engine}`, async () => {
      const data = join(temporaryFolder(), "it's data");
      const flags = Object.entries(await openFlags()).flatMap(([name, value]) => [`--${name}`, value]);
      const first = await startProcess({ data, flags });
      const secret = await readToken(data);
      await first.end("SIGTERM");
      // From elsewhere, as on another machine: the file of the token stays where it is.
      const where = flags.length > 0 ? ["--data", temporaryFolder(), ...flags] : ["--data", data];
      expect((await runCommand(["token", "revoke", "first", ...where])).status).toBe(0);
      expect(existsSync(join(data, "first-token"))).toBe(flags.length > 0);

      const service = startOnTerminal(["--data", `'${data.replaceAll("'", `'\\''`)}'`, ...flags]);
      try {
        await until("the start is told", () => service.screen().includes("Open the address"));
        const url = /address +(\S+)/.exec(service.screen())![1]!;
        expect(existsSync(join(data, "first-token"))).toBe(false);
        expect(service.screen()).not.toMatch(/token +in /);
        expect(await statusOf(url, secret)).toBe(401);

        const line = /if you have none left: (.*)/.exec(service.screen())![1]!;
        expect(line).toStartWith("npx plant-store token create --admin");
        const environment = { ...cleanEnvironment(), PATH: `${BIN}:${process.env["PATH"]}` };
        const { stdout } = Bun.spawnSync(["sh", "-c", line], { cwd: PROJECT, env: environment });
        expect(stdout.toString()).toMatch(/^plant_\w+\n$/);
        expect(await statusOf(url, stdout.toString().trim())).toBe(200);
      } finally {
        await service.end();
      }
    });
  }
});

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { cleanEnvironment, PROJECT, startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { beginCreate } from "../support/raw-http.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const INTERRUPTED = "plant-store: Interrupted. It is safe to repeat the command.";
const WITHOUT_WRAP = "\u001B[?7l";
const WITH_WRAP = "\u001B[?7h";

it("an interrupted command gives the terminal back as it was, and says that it may be repeated", async () => {
  const folder = temporaryFolder();
  const pipe = join(folder, "plants.ndjson");
  execFileSync("mkfifo", [pipe]);
  const command = [process.execPath, `${PROJECT}/src/main.ts`, "import", pipe, "--data", join(folder, "data")];
  let shown = "";
  const terminal = new Bun.Terminal({ cols: 80, rows: 24, data: (_, bytes) => void (shown += Buffer.from(bytes).toString()) });
  // A terminal sends signals only to the processes that it controls.
  const child = Bun.spawn(["setsid", "--ctty", "--wait", ...command], { terminal, env: { ...cleanEnvironment(), TERM: "xterm" } });
  const writer = createWriteStream(pipe);
  writer.write('{"id":1,"name":"Ficus"}\n');
  await until("The progress is drawn", () => shown.includes(WITHOUT_WRAP));
  terminal.write("\u0003");
  expect(await child.exited).toBe(1);
  writer.destroy();
  // The terminal may show the last words of a process after its end.
  await until("The command says that it was interrupted", () => shown.includes(INTERRUPTED));
  expect(shown.lastIndexOf(WITH_WRAP)).toBeGreaterThan(shown.lastIndexOf(WITHOUT_WRAP));
});

it("a command that was started to ignore a signal, as with nohup, goes on", async () => {
  const words = ["import", "-", "--format", "ndjson", "--data", join(temporaryFolder(), "data")];
  const program = [process.execPath, `${PROJECT}/src/main.ts`, ...words];
  const child = spawn("sh", ["-c", `trap '' HUP; exec "$@"`, "sh", ...program], { env: cleanEnvironment() });
  const closed = once(child, "close");
  const isBegun = new Promise<void>((resolve) => {
    // What tells progress without a terminal.
    child.stderr.on("data", (chunk) => String(chunk).includes("stdin  ") && resolve());
  });
  child.stdin.write('{"id":1,"name":"Ficus"}\n');
  await isBegun;
  child.kill("SIGHUP");
  await Bun.sleep(100);
  child.stdin.end('{"id":2,"name":"Hedera"}\n');
  expect(await closed).toEqual([0, null]);
});

it("a service shows its first token on a line of its own, and ends with 0 when its terminal is closed", async () => {
  const folder = temporaryFolder();
  const command = [process.execPath, `${PROJECT}/src/main.ts`, "serve", "--port", "0", "--data", folder];
  let shown = "";
  const terminal = new Bun.Terminal({ cols: 80, rows: 24, data: (_, bytes) => void (shown += Buffer.from(bytes).toString()) });
  const child = Bun.spawn(["setsid", "--ctty", "--wait", ...command], { terminal, env: cleanEnvironment() });
  await until("The service is ready", () => shown.includes("Open the address"));
  expect(shown).toMatch(/^plant_[0-9A-Za-z]{38}\r$/m);
  terminal.close();
  expect(await child.exited).toBe(0);
});

it("a service drains after SIGHUP, also when a second one follows, as from the terminal and its shell", async () => {
  const data = temporaryFolder();
  const service = await startProcess({ data, flags: PATIENT });
  const create = await beginCreate(service.url, await readToken(data));
  const ended = service.end("SIGHUP");
  await until("it stops", () => service.lines.some((line) => line.includes('"stopping"')));
  void service.end("SIGHUP");
  // So that the second one has come while the create is under way.
  await Bun.sleep(100);
  expect(await create('{"id":1,"name":"Ficus"}')).toStartWith("HTTP/1.1 200 ");
  expect(await ended).toBe(0);
  expect(service.lines.at(-1)).toContain('"stopped"');
});

it("a service that was started to ignore SIGHUP, as with nohup, goes on", async () => {
  const service = await startProcess({ data: temporaryFolder(), under: ["sh", "-c", `trap '' HUP; exec "$@"`, "sh"] });
  void service.end("SIGHUP");
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect(await service.end("SIGTERM")).toBe(0);
  expect(service.lines.filter((line) => line.includes('"stopping"'))).toEqual([expect.stringContaining("SIGTERM")]);
});

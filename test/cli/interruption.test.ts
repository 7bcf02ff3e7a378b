import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { cleanEnvironment, PROJECT } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const INTERRUPTED = "plant-store: Interrupted. It is safe to repeat the command.";
const WITHOUT_WRAP = "\u001B[?7l";
const WITH_WRAP = "\u001B[?7h";

it("an interrupted command gives the terminal back as it was, and says that it may be repeated", async () => {
  const folder = temporaryFolder();
  const pipe = join(folder, "plants.ndjson");
  execFileSync("mkfifo", [pipe]);
  const command = `'${process.execPath}' '${PROJECT}/src/main.ts' import '${pipe}' --data '${join(folder, "data")}'`;
  // Gives it a terminal.
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    env: { ...cleanEnvironment(), TERM: "xterm" },
  });
  const writer = createWriteStream(pipe);
  writer.write('{"id":1,"name":"Ficus"}\n');
  let shown = "";
  const isDrawn = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk) => {
      shown += String(chunk);
      if (shown.includes(WITHOUT_WRAP)) resolve();
    });
  });
  await isDrawn;
  child.stdin.write("\u0003");
  const [status] = (await once(child, "close")) as [number];
  writer.destroy();
  expect([status, shown.includes(INTERRUPTED)]).toEqual([1, true]);
  expect(shown.lastIndexOf(WITH_WRAP)).toBeGreaterThan(shown.lastIndexOf(WITHOUT_WRAP));
});

/** An import that waits for more lines, started with this shell code in front. Resolves once it has begun. */
async function startImport(folder: string, { before = "", words = [] }: Readonly<{ before?: string; words?: readonly string[] }>) {
  const program = [
    process.execPath,
    `${PROJECT}/src/main.ts`,
    "import",
    "-",
    "--format",
    "ndjson",
    "--data",
    join(folder, "data"),
    ...words,
  ];
  const child = spawn("sh", ["-c", `${before} exec "$@"`, "sh", ...program], { env: cleanEnvironment() });
  let told = "";
  const isBegun = new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk) => {
      told += String(chunk);
      // What tells progress without a terminal.
      if (told.includes("stdin  ")) resolve();
    });
  });
  child.stdin.write('{"id":1,"name":"Ficus"}\n');
  await isBegun;
  return { child, told: () => told, closed: once(child, "close") as Promise<[number | null, NodeJS.Signals | null]> };
}

it("an interrupted import leaves no file of refused lines in the way of the next one", async () => {
  const folder = temporaryFolder();
  const refused = join(folder, "refused.txt");
  const { child, told, closed } = await startImport(folder, { words: ["--refused", refused] });
  expect(existsSync(refused)).toBe(true);
  child.kill("SIGTERM");
  expect([await closed, told().endsWith(`${INTERRUPTED}\n`), existsSync(refused)]).toEqual([[1, null], true, false]);
});

it("a command that was started to ignore a signal, as with nohup, goes on", async () => {
  const { child, closed } = await startImport(temporaryFolder(), { before: "trap '' HUP;" });
  child.kill("SIGHUP");
  await Bun.sleep(100);
  child.stdin.end('{"id":2,"name":"Hedera"}\n');
  expect(await closed).toEqual([0, null]);
});

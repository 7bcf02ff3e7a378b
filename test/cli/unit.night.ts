import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "bun:test";
import { passedSocket } from "../../src/cli/passed-socket.ts";
import { findFreePort } from "../support/port.ts";
import { findProgram, needs } from "../support/program.ts";
import { cleanEnvironment, PROJECT } from "../support/process.ts";
import { killServices, startService } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { askUntil, until } from "../support/until.ts";

const SERVICE = join(PROJECT, "deploy/plant-store.service");
const BACKUP = join(PROJECT, "deploy/plant-store-backup.service");

/** In tenths: from 0, the best, to 100. */
const EXPOSURE_MAX = 20;

/**
 * SQLite calls the first as root, to give its files the owner of the database. The units do not run as root. A backup
 * asks for the second, and goes on without.
 */
const NOT_NEEDED = ["fchown", "setpriority"];

afterEach(killServices);

function analyze(...words: string[]): { text: string; status: number | null } {
  const { stdout, stderr, status } = spawnSync(findProgram("systemd-analyze"), [...words, "--no-pager"], { encoding: "utf8" });
  return { text: stdout + stderr, status };
}

/** The system calls of a set of systemd, with those of the sets in it; a call by itself. */
function systemCalls(): (set: string) => string[] {
  const { text } = analyze("syscall-filter");
  const sets = new Map(Array.from(text.matchAll(/^(@[\w-]+)\n((?: .*\n?)+)/gm), ([, name, lines]) => [name!, lines!]));
  return function expand(set: string): string[] {
    if (!set.startsWith("@")) return [set];
    const names = sets
      .get(set)!
      .split("\n")
      .map((line) => line.trim());
    return names.filter((name) => name !== "" && !name.startsWith("#")).flatMap(expand);
  };
}

/** What a unit lets its program call: its lines add sets or, after a ~, remove them. */
function allowedCalls(unit: string): Set<string> {
  const expand = systemCalls();
  const allowed = new Set<string>();
  for (const [, not, sets] of readFileSync(unit, "utf8").matchAll(/^SystemCallFilter=(~?)(.*)$/gm))
    for (const call of sets!.split(" ").flatMap(expand))
      if (not === "~") allowed.delete(call);
      else allowed.add(call);
  return allowed;
}

/** Every system call of a service that starts, stores, finds and exports a plant, is measured, and stops. */
async function callsOfService(): Promise<string[]> {
  const data = temporaryFolder();
  const { under, calls } = countCalls();
  const service = await startService({ data, under, flags: ["--metrics", "127.0.0.1:0", "--queue-wait-ms", "15000"] });
  const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
  const created = await fetch(`${service.url}/plants`, { method: "POST", headers, body: '{"id":1,"name":"Rose"}' });
  expect(created.status).toBe(200);
  for (const url of [`${service.url}/plants?q=rose`, `${service.url}/plants/export`, service.started["metrics"]!])
    expect(await (await fetch(url, { headers })).text()).not.toBe("");
  await service.end("SIGTERM");
  return calls();
}

/** Every system call of a backup of a store, some of which are refused. */
async function callsOfBackup(refused: readonly string[] = []): Promise<string[]> {
  const data = temporaryFolder();
  const service = await startService({ data });
  const { under, calls } = countCalls(refused);
  const words = ["src/main.ts", "backup", join(temporaryFolder(), "garden.gz"), "--data", data];
  const { status, stderr } = spawnSync(under[0]!, [...under.slice(1), process.execPath, ...words], {
    cwd: PROJECT,
    env: cleanEnvironment(),
  });
  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: expect.not.stringContaining("plant-store:") });
  await service.end("SIGTERM");
  return calls();
}

/** A program that counts the system calls of what runs under it, and refuses some. */
function countCalls(refused: readonly string[] = []) {
  const counts = join(temporaryFolder(), "calls");
  const inject = refused.length === 0 ? [] : ["-e", `inject=${refused.join(",")}:error=EPERM`];
  return {
    under: [findProgram("strace"), "-D", "-f", "-qq", "-c", ...inject, "-o", counts],
    async calls(): Promise<string[]> {
      await until("strace wrote its counts", () => existsSync(counts) && readFileSync(counts, "utf8").includes(" total"));
      const names = Array.from(readFileSync(counts, "utf8").matchAll(/^ *[\d.]+ .*? (\w+)$/gm), ([, name]) => name!);
      return names.filter((name) => name !== "total");
    },
  };
}

describe.each([
  ["the service", SERVICE, callsOfService],
  ["a backup", BACKUP, callsOfBackup],
] as const)("the unit of systemd for %s", (_, unit, callsOf) => {
  needs("systemd-analyze").it("keeps it from what it does not need: its exposure is 2.0 or less", () => {
    const { text, status } = analyze("security", "--offline=true", `--threshold=${EXPOSURE_MAX}`, unit);
    console.log(`figure: ${/Overall exposure level.*?: [\d.]+/.exec(text)?.[0]}`);
    expect({ status, text: status === 0 ? "" : text }).toEqual({ status: 0, text: "" });
  });

  it("keeps no image of its memory after a crash, which has tokens and plants", () => {
    expect(readFileSync(unit, "utf8")).toMatch(/^LimitCORE=0\nCoredumpFilter=0$/m);
  });

  needs("systemd-analyze", "strace").it("forbids no system call that it makes", async () => {
    const calls = await callsOf();
    const allowed = allowedCalls(unit);
    expect(calls).toContain("fsync");
    expect(calls.filter((name) => !allowed.has(name) && !NOT_NEEDED.includes(name))).toEqual([]);
  });

  needs("systemd-analyze").it("has settings that this systemd knows", () => {
    const { text } = analyze("verify", unit);
    // The executable is not installed here. Units of others that are installed may have faults of their own.
    const isOthers = (line: string) => line.includes("/usr/bin/plant-store is not executable") || /^\/(?:usr\/)?lib\/systemd\//.test(line);
    expect(text.split("\n").filter((line) => line !== "" && !isOthers(line))).toEqual([]);
  });
});

it("a backup starts without its folders, and says itself which is missing: systemd would name the program", () => {
  const [, folders] = /^ReadWritePaths=(.*)$/m.exec(readFileSync(BACKUP, "utf8"))!;
  expect(folders!.split(" ")).toEqual([expect.stringMatching(/^-\//), expect.stringMatching(/^-\//)]);
});

needs("strace").it("a backup goes on where it may not give way to the service", async () => {
  expect(await callsOfBackup(["setpriority"])).toContain("setpriority");
});

describe("a socket that systemd passes", () => {
  /** Runs the service as systemd would start it for a connection to this place. */
  function startFor(place: string, data: string) {
    const words = ["-l", place, process.execPath, join(PROJECT, "src/main.ts"), "serve", "--data", data];
    return Bun.spawn([findProgram("systemd-socket-activate"), ...words], { env: cleanEnvironment(), stdout: "pipe", stderr: "pipe" });
  }

  needs("systemd-socket-activate").it("is the one that the service answers on, also the request that made systemd start it", async () => {
    const address = `127.0.0.1:${await findFreePort()}`;
    const data = temporaryFolder();
    const service = startFor(address, data);
    await until("systemd listens", () =>
      fetch(`http://${address}/livez`, { signal: AbortSignal.timeout(20_000) }).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
    const created = await fetch(`http://${address}/plants`, { method: "POST", headers, body: '{"id":1,"name":"Rose"}' });
    expect([created.status, await created.text()]).toEqual([200, '{"name":"Rose"}']);
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
  });

  it("must be the only one, and is left alone if it is for another process", () => {
    const given = { LISTEN_PID: String(process.pid), LISTEN_FDS: "2" };
    expect(() => passedSocket(given)).toThrow("systemd passed 2 sockets, and the service takes one");
    expect(passedSocket({ ...given, LISTEN_FDS: "1" })).toBe(3);
    expect(passedSocket({ LISTEN_PID: "1", LISTEN_FDS: "1" })).toBeUndefined();
  });

  needs("systemd-socket-activate").it("must have a port", async () => {
    const path = join(temporaryFolder(), "socket");
    const service = startFor(path, temporaryFolder());
    await until("systemd listens", () => existsSync(path));
    // Its socket is there a moment before it listens: a request that comes in between is refused, and starts nothing.
    const asking = setInterval(() => void fetch("http://plants/livez", { unix: path }).catch(() => {}), 100);
    const ended = await askUntil(
      () => service.exitCode,
      (code) => code !== null,
    );
    clearInterval(asking);
    service.kill("SIGKILL");
    expect(ended).toBe(1);
    expect(await new Response(service.stderr).text()).toContain("plant-store: systemd passed a socket without a port: name one");
  });
});

/** The lines that a service writes whose output is a file, told that the journal is the file with this name. */
async function linesOf(journalOf: (output: number) => string): Promise<string[]> {
  const path = join(temporaryFolder(), "output");
  const output = openSync(path, "w");
  const data = temporaryFolder();
  // So that it also has something to warn of.
  chmodSync(data, 0o755);
  const service = Bun.spawn([process.execPath, join(PROJECT, "src/main.ts"), "serve", "--port", "0", "--data", data], {
    stdout: output,
    env: { ...cleanEnvironment(), JOURNAL_STREAM: journalOf(output) },
  });
  await until("the service is ready", () => readFileSync(path, "utf8").includes('"started"'));
  service.kill("SIGTERM");
  await service.exited;
  return readFileSync(path, "utf8").trimEnd().split("\n");
}

function nameOf(output: number): string {
  const { dev, ino } = fstatSync(output);
  return `${dev}:${ino}`;
}

describe("the log", () => {
  it("begins each line with its priority when the journal of systemd reads it", async () => {
    const lines = await linesOf(nameOf);
    const priorities = lines.map((line) =>
      [/^<\d>/.exec(line)?.[0], (JSON.parse(line.replace(/^<\d>/, "")) as { level: string }).level].join(),
    );
    expect(new Set(priorities)).toEqual(new Set(["<6>,info", "<4>,warn"]));
  });

  it("is plain JSON when something else reads it, even under systemd", async () => {
    const lines = await linesOf((output) => `${nameOf(output)}0`);
    expect(lines.filter((line) => !line.startsWith("{"))).toEqual([]);
  });
});

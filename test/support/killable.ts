import { spawn } from "node:child_process";
import { once } from "node:events";
import { cleanEnvironment, programOf, PROJECT } from "./process.ts";

/** Runs a program as a process that may be killed -9. Resolves with its status, how long it ran, and its messages. */
export function runKillable([program, ...words]: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const began = performance.now();
  const child = spawn(program!, words, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...cleanEnvironment(), ...environment },
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const ended = once(child, "close").then(([status]) => ({ status: status as number | null, ms: performance.now() - began, stderr }));
  return {
    ended,
    async killAfter(ms: number) {
      await Bun.sleep(ms);
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** Runs a command of the program, likewise. */
export function runCommandKillable(words: readonly string[], root = PROJECT, environment: Readonly<Record<string, string>> = {}) {
  return runKillable([...programOf(root), ...words], environment);
}

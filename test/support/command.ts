import { spyOn } from "bun:test";
import { createCommandLine } from "../../src/cli/command-line.ts";
import { complaintOf } from "../../src/app/complaint.ts";
import { cleanEnvironment, withoutProgress } from "./process.ts";

/** What the end of a process would be. */
class Exit extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The command ended with ${status}.`);
    this.status = status;
  }
}

type Ended = Readonly<{ status: number; stdout: string; stderr: string }>;

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs a command as main.ts does, in this process, which takes a tenth of the time of `runCommand`. One at a time, because
 * it has the output and the environment of the process. It reads no standard input.
 */
export function runInside(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const ended = previous.then(() => run(words, environment));
  previous = ended.catch(() => {});
  return ended;
}

async function run(words: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  const before = { argv: process.argv, env: process.env, umask: process.umask(0o077), exitCode: process.exitCode };
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  const exit = spyOn(process, "exit").mockImplementation((status) => {
    throw new Exit(Number(status ?? process.exitCode ?? 0));
  });
  process.argv = [process.execPath, "plant-store", ...words];
  process.env = { ...cleanEnvironment(), ...environment };
  process.exitCode = 0;
  let status: number;
  try {
    await (await createCommandLine(words[0])).parseAsync();
    status = process.exitCode;
  } catch (reason) {
    status = reason instanceof Exit ? reason.status : 1;
    if (!(reason instanceof Exit)) stderr.add(complaintOf(reason));
  } finally {
    process.umask(before.umask);
    Object.assign(process, { argv: before.argv, env: before.env, exitCode: before.exitCode ?? 0 });
    exit.mockRestore();
    stdout.end();
    stderr.end();
  }
  return { status, stdout: stdout.text(), stderr: withoutProgress(stderr.text()) };
}

/** What is written to a stream until the end, which is no terminal meanwhile. */
function capture(stream: NodeJS.WriteStream) {
  const chunks: Uint8Array[] = [];
  const add = (chunk: string | Uint8Array) => void chunks.push(Buffer.from(chunk as Uint8Array));
  const { isTTY } = stream;
  const write = spyOn(stream, "write").mockImplementation((chunk, ...more) => {
    add(chunk);
    const done = more.findLast((one) => typeof one === "function") as (() => void) | undefined;
    done?.();
    return true;
  });
  stream.isTTY = false;
  return {
    add,
    text: () => Buffer.concat(chunks).toString(),
    end() {
      write.mockRestore();
      stream.isTTY = isTTY;
    },
  };
}

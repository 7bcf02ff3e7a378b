import { parentPort, workerData } from "node:worker_threads";
import type { Failure } from "./failure.ts";
import { openIndexer } from "../search/indexer.ts";
import { openWriter } from "./writer.ts";

/** What can run in a Worker: each is opened with the path of the database, and is an object of methods. */
const PARTS = { writer: openWriter, search: openIndexer } as const;

export type PartName = keyof typeof PARTS;
export type Part<Name extends PartName> = ReturnType<(typeof PARTS)[Name]>;

/** What goes to a Worker. */
export type ThreadCall = Readonly<{ seq: number; method: string; args: readonly unknown[] }>;

/** What comes back, one for each call. `seq` 0 tells how the opening went. */
export type Reply = Readonly<{ seq: number; result?: unknown; failure?: Failure }>;

// A thread that waits for the disk. It does one call after the other, in the order in which they were sent.
const port = parentPort;
if (!port) throw new Error("worker.ts runs in the Worker that thread.ts starts.");

function reply(seq: number, work: () => unknown): void {
  let answer: Reply;
  try {
    answer = { seq, result: work() };
  } catch (thrown) {
    answer = { seq, failure: toFailure(thrown) };
  }
  port?.postMessage(answer);
}

function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const errcode = "errcode" in thrown && typeof thrown.errcode === "number" ? { errcode: thrown.errcode } : {};
  return { message: thrown.message, ...errcode };
}

const { part, path } = workerData as { part: PartName; path: string };
let methods: Record<string, (...args: never[]) => unknown>;
reply(0, () => {
  methods = PARTS[part](path);
});

port.on("message", ({ seq, method, args }: ThreadCall) => {
  // The pairing of a method with its arguments is checked where a call is made.
  reply(seq, () => methods[method]!(...(args as never[])));
  if (method === "close") port.close();
});

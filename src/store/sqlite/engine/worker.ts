import { parentPort, workerData } from "node:worker_threads";
import { isSqliteFailure } from "./failure.ts";
import type { Failure } from "./failure.ts";
import { openChecker } from "../database-check.ts";
import { openIndexer } from "../search/indexer.ts";
import { openWriter } from "./writer.ts";

/** What can run in a Worker. Each opens with the path of the database and returns an object of methods. */
const PARTS = { writer: openWriter, search: openIndexer, check: openChecker } as const;

export type PartName = keyof typeof PARTS;
export type Part<Name extends PartName> = ReturnType<(typeof PARTS)[Name]>;

/** A message to a Worker. The first opens its part. */
export type ThreadCall = Readonly<{ seq: number; method: string; args: readonly unknown[] }>;

/** A message from a Worker, one for each call. */
export type Reply = Readonly<{ seq: number; result?: unknown; failure?: Failure }>;

// This thread blocks on the disk. It runs one call at a time, in the order sent.
const port = parentPort;
if (!port) throw new Error("worker.ts runs in the Worker that thread.ts starts.");

function reply(seq: number, work: () => unknown): void {
  let message: Reply;
  try {
    message = { seq, result: work() };
  } catch (thrown) {
    message = { seq, failure: toFailure(thrown) };
  }
  port?.postMessage(message);
}

function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  return { message: thrown.message, ...(isSqliteFailure(thrown) ? { errcode: thrown.errcode } : {}) };
}

const { part, path } = workerData as { part: PartName; path: string };
let methods: Record<string, (...args: never[]) => unknown> = {
  open() {
    methods = PARTS[part](path);
  },
};

port.on("message", ({ seq, method, args }: ThreadCall) => {
  // The types in thread.ts check that the arguments fit the method.
  reply(seq, () => methods[method]!(...(args as never[])));
  if (method === "close") port.close();
});

import { isSqliteFailure } from "./failure.ts";
import type { Failure } from "./failure.ts";

/**
 * What can run in a Worker. Each is made with the path of the database. A thread loads the code of its own part only.
 */
const PARTS = {
  writer: async () => (await import("./writer.ts")).Writer,
  search: async () => (await import("../search/indexer.ts")).Indexer,
  check: async () => (await import("../database-check.ts")).Checker,
} as const;

export type PartName = keyof typeof PARTS;
export type Part<Name extends PartName> = InstanceType<Awaited<ReturnType<(typeof PARTS)[Name]>>>;

/** A message to a Worker. The first opens its part. */
export type ThreadCall = Readonly<{ seq: number; method: string; args: readonly unknown[] }>;

/** A message from a Worker, one for each call. */
export type Reply = Readonly<{ seq: number; result?: unknown; failure?: Failure }>;

async function reply(seq: number, work: () => unknown): Promise<void> {
  let message: Reply;
  try {
    message = { seq, result: await work() };
  } catch (thrown) {
    message = { seq, failure: toFailure(thrown) };
  }
  postMessage(message);
}

function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  return { message: thrown.message, ...(isSqliteFailure(thrown) ? { errcode: thrown.errcode } : {}) };
}

const [part, path] = process.argv.slice(-2) as [PartName, string];

// Loads at once, while other threads open theirs.
const loading = PARTS[part]();

let methods: Record<string, (...args: never[]) => unknown> = {
  async open() {
    const Opened = await loading;
    methods = new Opened(path) as unknown as typeof methods;
  },
};

// This thread blocks on the disk. It runs one call at a time, in the order sent.
function receive({ data: { seq, method, args } }: MessageEvent<ThreadCall>): void {
  // The types in thread.ts check that the arguments fit the method.
  void reply(seq, () => methods[method]!(...(args as never[])));
  // A Worker that listens to nothing ends.
  if (method === "close") removeEventListener("message", receive);
}

addEventListener("message", receive);

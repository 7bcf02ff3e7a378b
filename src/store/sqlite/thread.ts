import { Worker } from "node:worker_threads";
import { PlantStoreError } from "../../errors.ts";
import { SqliteError } from "./failure.ts";
import type { Failure } from "./failure.ts";
import type { Writer } from "./writer.ts";

type Method = keyof Writer;

/** What goes to the Worker. */
export type Call = Readonly<{ seq: number; method: Method; args: readonly unknown[] }>;

/** What comes back, one for each call. `seq` 0 tells how the opening went. */
export type Reply = Readonly<{ seq: number; result?: unknown; failure?: Failure }>;

/** The writer, seen from the main thread. */
export type WriterThread = Readonly<{
  /** Calls a method of the writer. Rejects with a SqliteError when it throws. */
  call<Name extends Method>(method: Name, ...args: Parameters<Writer[Name]>): Promise<ReturnType<Writer[Name]>>;
}>;

/** Opens the writer in a Worker of its own; rejects when it cannot be opened. `onDeath` is called when the Worker ends in any other way than by `close`. */
export async function startWriterThread(path: string, onDeath: (reason: Error) => void): Promise<WriterThread> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: path });
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastSeq = 0;
  let isClosing = false;

  function expectReply(seq: number): Promise<unknown> {
    const waiter = Promise.withResolvers<unknown>();
    pending.set(seq, waiter);
    return waiter.promise;
  }

  function die(reason: Error): void {
    if (isClosing) return;
    isClosing = true;
    onDeath(reason);
    for (const { reject } of pending.values()) reject(new PlantStoreError("store_unavailable", { cause: reason }));
    pending.clear();
  }

  worker.on("message", ({ seq, result, failure }: Reply) => {
    const waiter = pending.get(seq);
    pending.delete(seq);
    if (failure) waiter?.reject(new SqliteError(failure));
    else waiter?.resolve(result);
  });
  worker.on("error", die);
  worker.on("exit", (code) => die(new Error(`The writer ended with ${code}.`)));

  try {
    await expectReply(0);
  } catch (reason) {
    isClosing = true;
    await worker.terminate();
    throw reason;
  }
  return {
    call(method, ...args) {
      if (method === "close") isClosing = true;
      lastSeq += 1;
      const reply = expectReply(lastSeq);
      worker.postMessage({ seq: lastSeq, method, args } satisfies Call);
      return reply as Promise<ReturnType<Writer[typeof method]>>;
    },
  };
}

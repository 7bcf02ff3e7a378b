import { parentPort, workerData } from "node:worker_threads";
import type { Failure } from "./failure.ts";
import type { Call, Reply } from "./thread.ts";
import { openWriter } from "./writer.ts";

// The thread that waits for the disk. It does one call after the other, in the order in which they were sent.
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

let writer: ReturnType<typeof openWriter>;
reply(0, () => {
  writer = openWriter(String(workerData));
});

port.on("message", ({ seq, method, args }: Call) => {
  // The pairing of a method with its arguments is checked where a call is made.
  reply(seq, () => (writer[method] as (...values: unknown[]) => unknown)(...args));
  if (method === "close") port.close();
});

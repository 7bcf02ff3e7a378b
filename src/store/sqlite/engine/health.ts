import { setTimeout as sleep } from "node:timers/promises";
import type { PlantStoreError } from "../../../errors.ts";
import type { Log } from "../../../log.ts";
import { isSyncFailure, toStoreError } from "./failure.ts";
import type { Thread } from "./thread.ts";
import type { Writer } from "./writer.ts";

type WriterThread = Thread<Writer>;

/** Calls the writer and knows whether it can write. */
export type Health = Readonly<{
  /** As the thread's, but rejects with what a caller may know. */
  call: WriterThread["call"];
  /** Asks for a checkpoint. Nobody waits for it: when it fails, commits go on, and it is tried again after a pause. */
  checkpoint(): void;
  /** Throws why the last write failed, until one succeeds. */
  check(): void;
  /** Stops trying whether the disk takes writes again, and closes the writer. */
  close(): Promise<void>;
}>;

type HealthOptions = Readonly<{
  thread: WriterThread;
  log: Log;
  /** A sync failed, so no answer can be trusted any more: end the process at once, answering nobody. */
  onFatal: (reason: Error) => void;
}>;

/** How long after a failure it is tried whether the disk takes writes again, in milliseconds. */
const PROBE_MS = 500;

export function createHealth({ thread, log, onFatal }: HealthOptions): Health {
  let trouble: PlantStoreError | undefined;
  let isCheckpointing = false;
  let probing: ReturnType<typeof setTimeout> | undefined;

  function endIfSyncFailed(thrown: unknown): void {
    if (isSyncFailure(thrown)) onFatal(toStoreError(thrown));
  }

  function note(thrown: unknown): PlantStoreError {
    const error = toStoreError(thrown);
    if (!trouble) log.error("store_trouble", { reason: thrown });
    endIfSyncFailed(thrown);
    trouble = error;
    probing ??= setTimeout(probe, PROBE_MS).unref();
    return error;
  }

  function probe(): void {
    probing = undefined;
    // A failure starts the next probe and is told by check().
    void call("probe").catch(() => {});
  }

  const call: WriterThread["call"] = async (method, ...args) => {
    try {
      const result = await thread.call(method, ...args);
      if (trouble) log.info("store_healed");
      trouble = undefined;
      return result;
    } catch (thrown) {
      throw note(thrown);
    }
  };

  async function runCheckpoint(): Promise<void> {
    isCheckpointing = true;
    try {
      const isDone = await thread.call("checkpoint");
      // As long as a reader is in the way, to try it with each commit would only cost.
      if (!isDone) await sleep(PROBE_MS, undefined, { ref: false });
    } catch (thrown) {
      endIfSyncFailed(thrown);
      log.warn("checkpoint_failed", { reason: thrown });
      await sleep(PROBE_MS, undefined, { ref: false });
    }
    isCheckpointing = false;
  }

  return {
    call,
    checkpoint() {
      if (!isCheckpointing) void runCheckpoint();
    },
    check() {
      if (trouble) throw trouble;
    },
    async close() {
      clearTimeout(probing);
      // Not through `call`: that it closes does not show that the disk takes writes.
      await thread.call("close").catch((thrown: unknown) => {
        endIfSyncFailed(thrown);
        throw thrown;
      });
    },
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../../domain/errors.ts";
import type { Log } from "../../../runtime/log.ts";
import { isSyncFailure, toStoreError } from "./failure.ts";
import type { SqliteMeter } from "../metrics.ts";
import type { Thread } from "./thread.ts";
import type { Writer } from "./writer.ts";

type WriterThread = Thread<Writer>;

/** Calls the writer and tracks whether it can write. */
export type Health = Readonly<{
  /** Like `Thread.call`, but rejects with an error that a caller may see. */
  call: WriterThread["call"];
  /**
   * Starts a checkpoint in the background, unless one is running. If it fails, commits go on, and the next checkpoint
   * waits for a pause.
   */
  checkpoint(): void;
  /** Throws the error of the last failed write, until a write succeeds, and `store_unavailable` while files are lost. */
  check(): void;
  /** Throws `store_unavailable` while files are lost: their names lead elsewhere now. */
  expectFiles(): void;
  /** Stops probing the disk and closes the writer. */
  close(): Promise<void>;
}>;

type HealthOptions = Readonly<{
  thread: WriterThread;
  log: Log;
  checkpoints: SqliteMeter["checkpoints"];
  /** Whether the files have the same names as when they were opened. */
  areFilesThere: () => boolean;
  /** A sync failed, so no response can be trusted: end the process at once, without sending any. */
  onFatal: (reason: Error) => void;
}>;

/** Pause before the disk is probed after a failed write, or a checkpoint tried again, in milliseconds. */
const PROBE_MS = 500;

/** How often it looks whether the files are still there, in milliseconds. */
const LOOK_MS = 500;

const LOST =
  "The files of the store were moved, removed or replaced while the service runs: put them back. If they are gone, read all plants from the service before you stop it.";

export function createHealth({ thread, log, checkpoints, areFilesThere, onFatal }: HealthOptions): Health {
  let trouble: PlantStoreError | undefined;
  /** Undefined while the files are there. */
  let loss: Error | undefined;
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

  /** What is committed to a file without a name is gone when the service ends. */
  function look(): void {
    if (areFilesThere() === (loss === undefined)) return;
    loss = loss ? undefined : new Error(LOST);
    if (loss) log.error("store_trouble", { reason: loss });
    else log.info("store_healed");
  }
  const looking = setInterval(look, LOOK_MS).unref();

  function expectFiles(): void {
    if (loss) throw new PlantStoreError("store_unavailable", { cause: loss });
  }

  function probe(): void {
    probing = undefined;
    // A failure schedules the next probe, and check() reports it.
    void call("probe").catch(() => {});
  }

  const call: WriterThread["call"] = async (method, ...args) => {
    expectFiles();
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
    const started = performance.now();
    const measure = (outcome: "done" | "blocked" | "failed") => checkpoints(outcome).observe((performance.now() - started) / 1000);
    try {
      const isDone = await thread.call("checkpoint");
      measure(isDone ? "done" : "blocked");
      // While a reader blocks it, a try at each commit would be wasted.
      if (!isDone) await sleep(PROBE_MS, undefined, { ref: false });
    } catch (thrown) {
      endIfSyncFailed(thrown);
      measure("failed");
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
      expectFiles();
    },
    expectFiles,
    async close() {
      clearTimeout(probing);
      clearInterval(looking);
      // To close it would touch the files that have the names now.
      look();
      if (loss) return thread.unref();
      // Not through `call`: closing does not prove that the disk accepts writes.
      await thread.call("close").catch((thrown: unknown) => {
        endIfSyncFailed(thrown);
        throw thrown;
      });
    },
  };
}

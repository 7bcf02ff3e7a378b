import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../../domain/errors.ts";
import type { Log } from "../../../runtime/log.ts";
import { endIfSyncFailed, toStoreError } from "./failure.ts";
import type { SqliteMeter } from "../metrics.ts";
import type { Thread } from "./thread.ts";
import type { Writer } from "./writer.ts";

type WriterThread = Thread<Writer>;

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

/** Calls the writer and tracks whether it can write. */
export class Health {
  readonly #options: HealthOptions;
  readonly #looking = setInterval(() => this.#look(), LOOK_MS).unref();
  #trouble: PlantStoreError | undefined;
  /** Undefined while the files are there. */
  #loss: Error | undefined;
  #isCheckpointing = false;
  #probing: ReturnType<typeof setTimeout> | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Like `Thread.call`, but rejects with an error that a caller may see. */
  readonly call: WriterThread["call"] = async (method, ...args) => {
    this.expectFiles();
    try {
      const result = await this.#options.thread.call(method, ...args);
      if (this.#trouble) this.#options.log.info("store_healed");
      this.#trouble = undefined;
      return result;
    } catch (thrown) {
      throw this.#note(thrown);
    }
  };

  /** Starts a checkpoint in the background, unless one runs. If it fails, commits go on, and the next one waits for a pause. */
  checkpoint(): void {
    if (!this.#isCheckpointing) void this.#runCheckpoint();
  }

  /** Throws the error of the last failed write, until a write succeeds, and `store_unavailable` while files are lost. */
  check(): void {
    if (this.#trouble) throw this.#trouble;
    this.expectFiles();
  }

  /** Throws `store_unavailable` while files are lost: their names lead elsewhere now. */
  expectFiles(): void {
    if (this.#loss) throw new PlantStoreError("store_unavailable", { cause: this.#loss });
  }

  /** Stops probing the disk and closes the writer. `indexed`: what the index holds durably. */
  async close(indexed: number): Promise<void> {
    const { thread } = this.#options;
    clearTimeout(this.#probing);
    clearInterval(this.#looking);
    // To close it would touch the files that have the names now.
    this.#look();
    if (this.#loss) return thread.unref();
    // Not through `call`: closing does not prove that the disk accepts writes.
    await thread.call("close", indexed).catch((thrown: unknown) => {
      endIfSyncFailed(thrown, this.#options.onFatal);
      throw thrown;
    });
  }

  #note(thrown: unknown): PlantStoreError {
    const error = toStoreError(thrown);
    if (!this.#trouble) this.#options.log.error("store_trouble", { reason: thrown });
    endIfSyncFailed(thrown, this.#options.onFatal);
    this.#trouble = error;
    this.#probing ??= setTimeout(() => this.#probe(), PROBE_MS).unref();
    return error;
  }

  /** What is committed to a file without a name is gone when the service ends. */
  #look(): void {
    const { areFilesThere, log } = this.#options;
    if (areFilesThere() === (this.#loss === undefined)) return;
    this.#loss = this.#loss ? undefined : new Error(LOST);
    if (this.#loss) log.error("store_trouble", { reason: this.#loss });
    else log.info("store_healed");
  }

  #probe(): void {
    this.#probing = undefined;
    // A failure schedules the next probe, and check() reports it.
    void this.call("probe").catch(() => {});
  }

  async #runCheckpoint(): Promise<void> {
    const { thread, checkpoints, log } = this.#options;
    const started = performance.now();
    let outcome: "done" | "blocked" | "failed" = "failed";
    this.#isCheckpointing = true;
    try {
      outcome = (await thread.call("checkpoint")) ? "done" : "blocked";
    } catch (thrown) {
      endIfSyncFailed(thrown, this.#options.onFatal);
      log.warn("checkpoint_failed", { reason: thrown });
    }
    checkpoints(outcome).observe((performance.now() - started) / 1000);
    // While a reader blocks it, a try at each commit would be wasted.
    if (outcome !== "done") await sleep(PROBE_MS, undefined, { ref: false });
    this.#isCheckpointing = false;
  }
}

import { PlantStoreError } from "../../../domain/errors.ts";
import type { Log } from "../../../runtime/log.ts";
import { isLocked, LateError, UnsentError } from "./failure.ts";
import { UnfitError } from "./requirements.ts";

type Probe = (how: Readonly<{ isWrite: boolean; isUnsent: boolean }>) => Promise<PlantStoreError | undefined>;

/** Pauses between probes, in milliseconds: the end of trouble should not go unnoticed for long. */
const WATCH_MS = 1000;
const TROUBLE_MS = 250;

/** How often the log may say that there is trouble, in milliseconds: some faults heal and come back all the time. */
const LOG_INTERVAL_MS = 10_000;

/** One probe in so many writes, also when no one sends requests: only a write shows that the standby is missing. */
const PROBES_A_WRITE = 10;

const LATE =
  "The database did not answer a probe in time. If it waits for a synchronous standby, bring that back, or change synchronous_standby_names.";

/** Tracks whether the database takes changes, from statements that fail and a probe every second. */
export class Health {
  readonly #log: Log;
  #trouble: PlantStoreError | undefined;
  #isLogged = false;
  #lastLoggedAt = -Infinity;
  #refusal: PlantStoreError | undefined;
  /** Whether a statement failed or was late: the next probe writes. */
  #isDoubted = false;
  /** Whether trouble began with a statement that got no connection. */
  #isUnsent = false;
  #isProbing = false;
  #isClosed = false;
  #probes = 0;
  #probe: Probe | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  failed(error: PlantStoreError, reason: unknown): void {
    // Overload is not a fault of the database.
    if (error.code !== "store_unavailable" && error.code !== "store_full") return;
    // Nor is much work, or a lock of someone else: a probe tells either from a database in trouble.
    if (!(reason instanceof LateError) && !isLocked(reason)) this.#note(error, reason);
    this.#isUnsent ||= reason instanceof UnsentError;
    this.#isDoubted = true;
    void this.#runProbe();
  }

  /** Throws why the server is unfit, or why a statement failed, until a probe succeeds. */
  check(): void {
    const error = this.#refusal ?? this.#trouble;
    if (error) throw error;
  }

  /** Throws when the server could lose what it commits now. */
  checkFit(): void {
    const cause = this.#refusal?.cause;
    if (cause instanceof UnfitError && !cause.isTransient) throw this.#refusal;
  }

  /**
   * Starts the probes. `probe` resolves with why the server is unfit, if it is. With `isWrite` it also tries a write. Only
   * that ends trouble: reads may succeed while writes fail, and so may writes that change nothing. With `isUnsent` a
   * statement got no connection: the write must get one where changes do, and a read where reads do.
   */
  watch(probe: Probe): void {
    this.#probe = probe;
    this.#watchOn();
  }

  close(): void {
    this.#isClosed = true;
    this.#probe = undefined;
    clearTimeout(this.#timer);
  }

  async #runProbe(): Promise<void> {
    if (this.#isProbing || !this.#probe) return;
    this.#isProbing = true;
    clearTimeout(this.#timer);
    this.#probes += 1;
    const isWrite = this.#isDoubted || this.#trouble !== undefined || this.#probes % PROBES_A_WRITE === 0;
    this.#isDoubted = false;
    try {
      const unfit = await this.#probe({ isWrite, isUnsent: this.#isUnsent });
      if (this.#isClosed) return;
      if (unfit && !this.#refusal) this.#log.error("store_unfit", { reason: unfit.cause });
      this.#refusal = unfit;
      if (isWrite && !unfit) this.#heal();
    } catch (thrown) {
      // It asks so little that it is late only in trouble.
      const isTrouble = thrown instanceof PlantStoreError && thrown.code === "store_unavailable";
      if (isTrouble) this.#note(thrown, thrown.cause ?? new Error(LATE));
      // It learnt nothing, as when the server cut it off: the doubt stays.
      else this.#isDoubted ||= isWrite;
    }
    this.#isProbing = false;
    this.#watchOn();
  }

  #watchOn(): void {
    if (!this.#probe) return;
    const isIll = this.#trouble !== undefined || this.#refusal !== undefined || this.#isDoubted;
    this.#timer = setTimeout(() => void this.#runProbe(), isIll ? TROUBLE_MS : WATCH_MS).unref();
  }

  #note(error: PlantStoreError, reason: unknown): void {
    // A look that is under way then fails because its connection ends.
    if (this.#isClosed) return;
    this.#trouble = error;
    if (this.#isLogged || performance.now() - this.#lastLoggedAt < LOG_INTERVAL_MS) return;
    this.#isLogged = true;
    this.#lastLoggedAt = performance.now();
    this.#log.error("store_trouble", { reason });
  }

  #heal(): void {
    if (this.#isLogged) this.#log.info("store_healed");
    this.#isLogged = false;
    this.#isUnsent = false;
    this.#trouble = undefined;
  }
}

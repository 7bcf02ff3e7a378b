import { PlantStoreError } from "../../../domain/errors.ts";
import type { Log } from "../../../runtime/log.ts";
import { isLocked, LateError, UnsentError } from "./failure.ts";
import { UnfitError } from "./requirements.ts";

/** Tracks whether the database takes changes, from statements that fail and a probe every second. */
export type Health = Readonly<{
  failed(error: PlantStoreError, reason: unknown): void;
  /** Throws why the server is unfit, or why a statement failed, until a probe succeeds. */
  check(): void;
  /** Throws when the server could lose what it commits now. */
  checkFit(): void;
  /**
   * Starts the probes. `probe` resolves with why the server is unfit, if it is. With `isWrite` it also tries a write. Only
   * that ends trouble: reads may succeed while writes fail, and so may writes that change nothing. With `isUnsent` a
   * statement got no connection: the write must get one where changes do, and a read where reads do.
   */
  watch(probe: Probe): void;
  close(): void;
}>;

type Probe = (how: Readonly<{ isWrite: boolean; isUnsent: boolean }>) => Promise<PlantStoreError | undefined>;

/** Pauses between probes, in milliseconds: the end of trouble should not go unnoticed for long. */
const WATCH_MS = 1000;
const TROUBLE_MS = 250;

/** How often the log may say that there is trouble, in milliseconds: some faults heal and come back all the time. */
const LOG_INTERVAL_MS = 10_000;

/** One probe in so many writes, also when nobody sends requests: only a write shows that the standby is missing. */
const PROBES_A_WRITE = 10;

const LATE =
  "The database did not answer a probe in time. If it waits for a synchronous standby, bring that back, or change synchronous_standby_names.";

export function createHealth(log: Log): Health {
  let trouble: PlantStoreError | undefined;
  let isLogged = false;
  let lastLoggedAt = -Infinity;
  let refusal: PlantStoreError | undefined;
  /** Whether a statement failed or was late: the next probe writes. */
  let isDoubted = false;
  /** Whether trouble began with a statement that got no connection. */
  let isUnsent = false;
  let isProbing = false;
  let isClosed = false;
  let probes = 0;
  let probe: Probe | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function runProbe(): Promise<void> {
    if (isProbing || !probe) return;
    isProbing = true;
    clearTimeout(timer);
    probes += 1;
    const isWrite = isDoubted || trouble !== undefined || probes % PROBES_A_WRITE === 0;
    isDoubted = false;
    try {
      const unfit = await probe({ isWrite, isUnsent });
      if (isClosed) return;
      if (unfit && !refusal) log.error("store_unfit", { reason: unfit.cause });
      refusal = unfit;
      if (isWrite && !unfit) heal();
    } catch (thrown) {
      // It asks so little that it is late only in trouble.
      const isTrouble = thrown instanceof PlantStoreError && thrown.code === "store_unavailable";
      if (isTrouble) note(thrown, thrown.cause ?? new Error(LATE));
      // It learnt nothing, as when the server cut it off: the doubt stays.
      else isDoubted ||= isWrite;
    }
    isProbing = false;
    watchOn();
  }

  function watchOn(): void {
    if (probe) timer = setTimeout(() => void runProbe(), trouble || refusal || isDoubted ? TROUBLE_MS : WATCH_MS).unref();
  }

  function note(error: PlantStoreError, reason: unknown): void {
    // A look that is under way then fails because its connection ends.
    if (isClosed) return;
    trouble = error;
    if (isLogged || performance.now() - lastLoggedAt < LOG_INTERVAL_MS) return;
    isLogged = true;
    lastLoggedAt = performance.now();
    log.error("store_trouble", { reason });
  }

  function heal(): void {
    if (isLogged) log.info("store_healed");
    isLogged = false;
    isUnsent = false;
    trouble = undefined;
  }

  return {
    failed(error, reason) {
      // Overload is not a fault of the database.
      if (error.code !== "store_unavailable" && error.code !== "store_full") return;
      // Nor is much work, or a lock of somebody else: a probe tells either from a database in trouble.
      if (!(reason instanceof LateError) && !isLocked(reason)) note(error, reason);
      isUnsent ||= reason instanceof UnsentError;
      isDoubted = true;
      void runProbe();
    },
    check() {
      const error = refusal ?? trouble;
      if (error) throw error;
    },
    checkFit() {
      if (refusal?.cause instanceof UnfitError && !refusal.cause.isTransient) throw refusal;
    },
    watch(how) {
      probe = how;
      watchOn();
    },
    close() {
      isClosed = true;
      probe = undefined;
      clearTimeout(timer);
    },
  };
}

import type { PlantStoreError } from "../../../errors.ts";
import type { Log } from "../../../log.ts";

/** Tracks whether the database takes changes, from the last statements and a probe every second. */
export type Health = Readonly<{
  /** Reads may succeed while writes fail, so only a write ends the trouble. */
  succeeded(how: Readonly<{ isWrite: boolean }>): void;
  failed(error: PlantStoreError, reason: unknown): void;
  /** Throws why the server is unfit, or why the last statement failed, until one succeeds. */
  check(): void;
  /**
   * Starts the probes. `probe` resolves with why the server is unfit, if it is. With `isWrite` it also tries a write.
   */
  watch(probe: (how: Readonly<{ isWrite: boolean }>) => Promise<PlantStoreError | undefined>): void;
  close(): void;
}>;

const WATCH_MS = 1000;

export function createHealth(log: Log): Health {
  let trouble: PlantStoreError | undefined;
  let refusal: PlantStoreError | undefined;
  let isProbing = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  async function runProbe(probe: Parameters<Health["watch"]>[0]): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    // A failed probe reports itself through `failed`, like any other statement.
    const unfit = await probe({ isWrite: trouble !== undefined }).catch(() => refusal);
    if (unfit && !refusal) log.error("store_unfit", { reason: unfit.cause });
    refusal = unfit;
    isProbing = false;
  }

  return {
    succeeded({ isWrite }) {
      if (!trouble || !isWrite) return;
      log.info("store_healed");
      trouble = undefined;
    },
    failed(error, reason) {
      // Overload is not a fault of the database.
      if (error.code !== "store_unavailable" && error.code !== "store_full") return;
      if (!trouble) log.error("store_trouble", { reason });
      trouble = error;
    },
    check() {
      const error = refusal ?? trouble;
      if (error) throw error;
    },
    watch(probe) {
      timer = setInterval(() => void runProbe(probe), WATCH_MS).unref();
    },
    close: () => clearInterval(timer),
  };
}

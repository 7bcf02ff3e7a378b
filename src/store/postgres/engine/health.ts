import type { PlantStoreError } from "../../../errors.ts";
import type { Log } from "../../../log.ts";

/** Knows whether the database takes changes: from what became of the last statements, and by looking every second. */
export type Health = Readonly<{
  /** Reads may go on while no change can be made, so only a change shows that the trouble is over. */
  succeeded(how: Readonly<{ isWrite: boolean }>): void;
  failed(error: PlantStoreError, reason: unknown): void;
  /** Throws why the last statement failed, until one succeeds, or why the server will not do. */
  check(): void;
  /** Starts to look. `look` gives why the server will not do, if so; with `isWrite` it tries a change too. */
  watch(look: (how: Readonly<{ isWrite: boolean }>) => Promise<PlantStoreError | undefined>): void;
  close(): void;
}>;

const WATCH_MS = 1000;

export function createHealth(log: Log): Health {
  let trouble: PlantStoreError | undefined;
  let refusal: PlantStoreError | undefined;
  let isLooking = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  async function see(look: Parameters<Health["watch"]>[0]): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    // What fails is noted as of any other statement.
    const seen = await look({ isWrite: trouble !== undefined }).catch(() => refusal);
    if (seen && !refusal) log.error("store_unfit", { reason: seen.cause });
    refusal = seen;
    isLooking = false;
  }

  return {
    succeeded({ isWrite }) {
      if (!trouble || !isWrite) return;
      log.info("store_healed");
      trouble = undefined;
    },
    failed(error, reason) {
      // Too much work is no trouble of the database.
      if (error.code !== "store_unavailable" && error.code !== "store_full") return;
      if (!trouble) log.error("store_trouble", { reason });
      trouble = error;
    },
    check() {
      const error = refusal ?? trouble;
      if (error) throw error;
    },
    watch(look) {
      timer = setInterval(() => void see(look), WATCH_MS).unref();
    },
    close: () => clearInterval(timer),
  };
}

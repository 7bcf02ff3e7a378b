import type { PlantStoreError } from "../../errors.ts";
import type { Log } from "../../log.ts";

/** Knows whether the database takes changes, from what became of the last statements, and looks when there were none. */
export type Health = Readonly<{
  /** Reads may go on while no change can be made, so only a change shows that the trouble is over. */
  succeeded(how: Readonly<{ isWrite: boolean }>): void;
  failed(error: PlantStoreError, reason: unknown): void;
  /** Throws why the last statement failed, until one succeeds. */
  check(): void;
  /** Starts to look every second: with a change while there is trouble, else by reading. */
  watch(probe: (how: Readonly<{ isWrite: boolean }>) => Promise<unknown>): void;
  close(): void;
}>;

const WATCH_MS = 1000;

export function createHealth(log: Log): Health {
  let trouble: PlantStoreError | undefined;
  let isQuiet = true;
  let isProbing = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  async function look(probe: (how: { isWrite: boolean }) => Promise<unknown>): Promise<void> {
    isProbing = true;
    // What becomes of it is noted as of any other statement.
    await probe({ isWrite: trouble !== undefined }).catch(() => {});
    isProbing = false;
    // The look itself does not put off the next one.
    isQuiet = true;
  }

  return {
    succeeded({ isWrite }) {
      isQuiet = false;
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
      if (trouble) throw trouble;
    },
    watch(probe) {
      timer = setInterval(() => {
        if ((isQuiet || trouble) && !isProbing) void look(probe);
        isQuiet = true;
      }, WATCH_MS).unref();
    },
    close: () => clearInterval(timer),
  };
}

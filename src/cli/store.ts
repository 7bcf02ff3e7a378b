import type { Config } from "../config.ts";
import { createLog } from "../log.ts";
import { openStore } from "../service.ts";
import type { Store } from "../store/store.ts";

/** Whoever runs a command would rather wait for a busy store than run it again, in milliseconds. */
const WAIT_MS_MIN = 10_000;

/** Opens the store for a command, which tells people what went wrong and nothing else. */
export function openStoreHere(config: Config, { isServing }: { isServing: boolean }): Promise<Store> {
  const log = createLog({ level: "error", isTerminal: true, write: (line) => process.stderr.write(line), now: Date.now });
  const queueWaitMs = Math.max(config.queueWaitMs, WAIT_MS_MIN);
  return openStore(
    { ...config, queueWaitMs },
    {
      isServing,
      log,
      onFatal(reason) {
        throw reason;
      },
    },
  );
}

import type { Config } from "../config.ts";
import { createLog } from "../log.ts";
import { openStore } from "../service.ts";
import type { Store } from "../store/store.ts";

/** Opens the store for a command, which tells people what went wrong and nothing else. */
export function openStoreHere(config: Config, { isServing }: { isServing: boolean }): Promise<Store> {
  const log = createLog({ level: "error", isTerminal: true, write: (line) => process.stderr.write(line), now: Date.now });
  return openStore(config, {
    isServing,
    log,
    onFatal(reason) {
      throw reason;
    },
  });
}

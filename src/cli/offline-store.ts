import { existsSync } from "node:fs";
import type { Config } from "../config.ts";
import { createLog } from "../log.ts";
import { openStore } from "../service.ts";
import type { Store } from "../store/store.ts";

/** Whoever runs a command would rather wait for a busy store than run it again, in milliseconds. */
const WAIT_MS_MIN = 10_000;

type HereOptions = Readonly<{
  isServing: boolean;
  /** Whether a store may be made where there is none; then that is told. */
  isNew: boolean;
}>;

/** Opens the store for a command, which tells people what went wrong and nothing else. Throws when there is none, and none may be made. */
export async function openStoreHere(config: Config, { isServing, isNew }: HereOptions): Promise<Store> {
  const log = createLog({ level: "error", isTerminal: true, write: (line) => process.stderr.write(line), now: Date.now });
  const queueWaitMs = Math.max(config.queueWaitMs, WAIT_MS_MIN);
  const isMade = config.database.kind === "sqlite" && !existsSync(config.database.path);
  const store = await openStore(
    { ...config, queueWaitMs },
    {
      isServing,
      isNew,
      log,
      onFatal(reason) {
        throw reason;
      },
    },
  );
  if (isMade) process.stderr.write(`A new store was made in ${config.data}.\n`);
  return store;
}

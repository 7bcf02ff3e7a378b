import type { Config } from "../app/config.ts";
import type { Log } from "../runtime/log.ts";
import { createMetrics } from "../runtime/metrics.ts";
import { openStore } from "../app/open-store.ts";
import type { Store } from "../store/store.ts";
import { createCommandLog } from "./command-log.ts";

/** In milliseconds. Waiting for a busy store is better than having to run the command again. */
const WAIT_MS_MIN = 10_000;

/** Opens the store of a command that exists, runs `work` on it, and closes it. */
export async function withOwnStore<Result>(config: Config, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openOwnStore(config, { isServing: false, isNew: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

type OwnOptions = Readonly<{
  isServing: boolean;
  /** Whether to create a store, and say so, if there is none. */
  isNew: boolean;
}>;

/**
 * Opens the store for a command, which prints only warnings and errors. Throws if there is no store and none may be
 * created.
 */
export async function openOwnStore(config: Config, { isServing, isNew }: OwnOptions): Promise<Store> {
  const log = createCommandLog("warn");
  const queueWaitMs = Math.max(config.queueWaitMs, WAIT_MS_MIN);
  let isMade = false;
  const info: Log["info"] = (event) => void (isMade ||= event === "store_made");
  const store = await openStore(
    { ...config, queueWaitMs },
    {
      isServing,
      isNew,
      log: { ...log, info },
      metrics: createMetrics(),
      onFatal(reason) {
        throw reason;
      },
    },
  );
  if (isMade) process.stderr.write(`Created a new store in ${config.database.kind === "sqlite" ? config.data : store.name}.\n`);
  return store;
}

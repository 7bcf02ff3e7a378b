import type { PlantedBug } from "./planted.ts";

/** Every plant is answered as created before its commit begins. */
export const ANSWER_BEFORE_COMMIT: readonly PlantedBug[] = [
  {
    file: "src/store/batch.ts",
    from: "const settled = commit(batch).then(outcomes.resolve, outcomes.reject);",
    to: 'outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); const settled = new Promise((go) => setTimeout(go, 5)).then(() => commit(batch)).then(undefined, () => {});',
  },
];

/** SQLite leaves it to the kernel when a commit reaches the disk. */
export const SYNC_OFF: readonly PlantedBug[] = [
  { file: "src/store/sqlite/schema.ts", from: "PRAGMA synchronous = FULL", to: "PRAGMA synchronous = OFF" },
  { file: "src/store/sqlite/schema.ts", from: "want: 2 }", to: "want: 0 }" },
];

/** A failed sync is taken for trouble that passes, and the sync after it is believed. */
export const GO_ON_AFTER_FAILED_SYNC: readonly PlantedBug[] = [
  { file: "src/store/sqlite/guard.ts", from: "if (isSyncFailure(thrown)) onFatal(toStoreError(thrown));", to: "" },
  // strace counts by thread, so the same call of the thread that searches may fail too.
  { file: "src/store/sqlite/finder.ts", from: "if (isSyncFailure(reason)) onFatal(toStoreError(reason));", to: "" },
];

/** Nobody tries whether the disk takes writes again. */
export const NEVER_PROBE: readonly PlantedBug[] = [
  { file: "src/store/sqlite/guard.ts", from: "probing ??= setTimeout(probe, PROBE_MS).unref();", to: "" },
];

/** No bug: the WAL is copied into the database after a few creates already, so that a test meets that too. */
export const CHECKPOINT_OFTEN: readonly PlantedBug[] = [
  { file: "src/store/sqlite/schema.ts", from: "const WAL_PAGES_MAX = 4000;", to: "const WAL_PAGES_MAX = 20;" },
];

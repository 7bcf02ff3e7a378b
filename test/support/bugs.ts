import type { PlantedBug } from "./plant-bugs.ts";

/** Every create is answered before its commit begins; tokens are correct. */
export const ANSWER_BEFORE_COMMIT: readonly PlantedBug[] = [
  {
    file: "src/store/group-commit.ts",
    from: "const committed = commit(batch);",
    to: 'if (batch.tokens.length === 0) batch.outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); const committed = new Promise<void>((go) => setTimeout(go, 5)).then(() => commit(batch));',
  },
];

/** An import is answered before its commits are made. */
export const ANSWER_IMPORT_BEFORE_COMMIT: readonly PlantedBug[] = [
  {
    file: "src/store/sqlite/plants.ts",
    from: 'const committed = await writer.call("importPlants", toColumns(plants), options, indexed());',
    to: 'const committed = { outcomes: plants.map(() => 0), isChanged: true, walPages: 0, swapped: [] }; void writer.call("importPlants", toColumns(plants), options, indexed());',
  },
];

/** SQLite leaves it to the kernel when a commit reaches the disk. */
export const SYNC_OFF: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/requirements.ts", from: "PRAGMA synchronous = FULL", to: "PRAGMA synchronous = OFF" },
  { file: "src/store/sqlite/engine/requirements.ts", from: "want: 2 }", to: "want: 0 }" },
];

/** A failed sync is treated as temporary, and the next sync is trusted. */
export const GO_ON_AFTER_FAILED_SYNC: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/health.ts", from: "if (isSyncFailure(thrown)) onFatal(toStoreError(thrown));", to: "" },
  // strace counts by thread, so the same call of the thread that searches may fail too.
  { file: "src/store/sqlite/search/searcher.ts", from: "if (isSyncFailure(reason)) onFatal(toStoreError(reason));", to: "" },
];

/** A start treats the WAL as written if it can be read. */
export const TRUST_THE_WAL: readonly PlantedBug[] = [
  { file: "src/store/sqlite/store.ts", from: 'if (isServing) await writer.call("rewrite");', to: "" },
];

/** A start throws away what an earlier process has not copied into the database. */
export const DROP_THE_WAL: readonly PlantedBug[] = [
  {
    file: "src/store/sqlite/store.ts",
    from: "const now = () => performance.now();",
    to: 'process.getBuiltinModule("node:fs").rmSync(`${path}-wal`, { force: true }); const now = () => performance.now();',
  },
];

/** Nothing checks that the name of the WAL is on the disk. */
export const TRUST_THE_FOLDER: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/writer.ts", from: "syncFolder(dirname(realpathSync(path)));", to: "" },
];

/** A failed commit is answered as a success. */
export const ANSWER_FAILED_COMMIT: readonly PlantedBug[] = [
  {
    file: "src/store/group-commit.ts",
    from: "batch.outcomes.reject(reason);",
    to: 'if (batch.tokens.length === 0) batch.outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); batch.outcomes.reject(reason);',
  },
];

/** Nothing checks whether the disk accepts writes again. */
export const NEVER_PROBE: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/health.ts", from: "probing ??= setTimeout(probe, PROBE_MS).unref();", to: "" },
];

/** No bug: the WAL is copied into the database after only a few creates, so that a test covers that too. */
export const CHECKPOINT_OFTEN: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/requirements.ts", from: "const WAL_PAGES_MAX = 4000;", to: "const WAL_PAGES_MAX = 20;" },
  { file: "src/store/sqlite/engine/writer.ts", from: "const COMMITS_A_LOOK = 16;", to: "const COMMITS_A_LOOK = 1;" },
];

/**
 * No bug: checkpoints are frequent but not small, and the log says when each begins and ends, so that a test can strike
 * in between.
 */
export const TELL_CHECKPOINTS: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/requirements.ts", from: "const WAL_PAGES_MAX = 4000;", to: "const WAL_PAGES_MAX = 600;" },
  {
    file: "src/store/sqlite/engine/health.ts",
    from: 'const isDone = await thread.call("checkpoint");',
    to: 'log.info("checkpoint_begins"); const isDone = await thread.call("checkpoint"); log.info("checkpoint_done");',
  },
];

/** Each step to the newest schema is its own commit, with time for a kill in between. */
export const MIGRATE_IN_PIECES: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/schema.ts", from: 'db.exec("BEGIN IMMEDIATE");', to: "" },
  { file: "src/store/sqlite/engine/schema.ts", from: 'db.exec("COMMIT");', to: "" },
  {
    file: "src/store/sqlite/engine/schema.ts",
    from: "for (const step of MIGRATIONS.slice(version)) takeStep",
    to: 'for (const step of MIGRATIONS.slice(version).flatMap((steps) => steps.split(";"))) Bun.sleepSync(100), takeStep',
  },
];

/** The first token is in the store long before it is in its file, and the service says when, so that a test can strike. */
export const TOKEN_BEFORE_ITS_FILE: readonly PlantedBug[] = [
  { file: "src/auth/first-token.ts", from: "  writeSecret(draft, secret);\n  const isFirst", to: "  const isFirst" },
  {
    file: "src/auth/first-token.ts",
    from: "  if (isFirst) keepDraft(draft, path);",
    to: "  console.log('The token is stored.');\n  await new Promise((go) => setTimeout(go, 60_000));\n  writeSecret(draft, secret);\n  if (isFirst) keepDraft(draft, path);",
  },
];

/** An export is written in place, piece by piece. */
export const EXPORT_IN_PLACE: readonly PlantedBug[] = [
  {
    file: "src/cli/output-file.ts",
    from: 'const part = `${path}.${process.pid}-${randomBytes(9).toString("hex")}.part`;',
    to: "const part = path; void randomBytes;",
  },
  { file: "src/cli/output-file.ts", from: 'return openSync(part, "wx", 0o666);', to: 'return openSync(part, "w", 0o666);' },
];

/** The index of names counts as whole after the first step of its building. */
export const INDEX_DONE_EARLY: readonly PlantedBug[] = [
  {
    file: "src/store/sqlite/search/indexer.ts",
    from: "buildFrom: row.id",
    to: "buildFrom: null",
  },
];

/** A stop does not wait for the balancer to notice. */
export const NO_DRAIN_DELAY: readonly PlantedBug[] = [{ file: "src/app/service.ts", from: "await sleep(config.drainDelayMs);", to: "" }];

/** A stop closes the connections of the requests under way. */
export const CUT_OFF_WORK: readonly PlantedBug[] = [
  { file: "src/http/server.ts", from: "connection.retire();", to: "connection.terminate();" },
];

/** A thread runs this when a request contains the word crashnow. No bug: a way to crash a part. */
export function crashThread(part: "writer" | "search", how: string): readonly PlantedBug[] {
  const call = "void reply(seq, () => methods[method]!(...(args as never[])));";
  return [
    {
      file: "src/store/sqlite/engine/worker.ts",
      from: call,
      to: `if (part === "${part}" && Bun.inspect(args).includes("crashnow")) { ${how} } ${call}`,
    },
  ];
}

/** The main thread runs this on SIGUSR2. No bug either. */
export function crashOnSignal(how: string): readonly PlantedBug[] {
  const last = "announce(running, { log, isTerminal, exposed, config });";
  return [{ file: "src/cli/serve.ts", from: last, to: `${last} process.on("SIGUSR2", () => { ${how} });` }];
}

/** The service goes on without a thread that has ended. */
export const GO_ON_WITHOUT_THREAD: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/thread.ts", from: "onDeath(reason);", to: "" },
];

/** The service goes on after an uncaught error. */
export const GO_ON_AFTER_CRASH: readonly PlantedBug[] = [
  {
    file: "src/cli/serve.ts",
    from: 'process.on("uncaughtException", (error) => end("crashed", error));',
    to: 'process.on("uncaughtException", () => {});',
  },
  {
    file: "src/cli/serve.ts",
    from: 'process.on("unhandledRejection", (error) => end("crashed", error));',
    to: 'process.on("unhandledRejection", () => {});',
  },
];

/** The service ends when the reader of its log disconnects. */
export const END_WITH_LOG: readonly PlantedBug[] = [{ file: "src/cli/log-stream.ts", from: 'stream.on("error", () => {});', to: "" }];

/** The log stays in memory while its reader does not read. */
export const KEEP_WHOLE_LOG: readonly PlantedBug[] = [
  { file: "src/cli/log-stream.ts", from: "if (waitingBytes > WAITING_BYTES_MAX)", to: "if (false)" },
];

/** The wait of a change is measured by the system clock. */
export const WAIT_BY_WALL_CLOCK: readonly PlantedBug[] = [
  { file: "src/store/sqlite/store.ts", from: "const now = () => performance.now();", to: "const now = () => Date.now();" },
];

/** A cached token counts as fresh even if it comes from the future. */
export const TRUST_THE_FUTURE: readonly PlantedBug[] = [
  { file: "src/auth/authenticate.ts", from: "Math.abs(time - known.at) < freshMs", to: "time - known.at < freshMs" },
];

/** The expiry of tokens uses a clock that starts with the service and cannot be set. */
export const TOKENS_BY_STEADY_CLOCK: readonly PlantedBug[] = [
  {
    file: "src/app/service-app.ts",
    from: "cacheMax: TOKEN_CACHE_MAX,\n    now: Date.now,",
    to: "cacheMax: TOKEN_CACHE_MAX,\n    now: ((began) => () => began + performance.now())(Date.now() - performance.now()),",
  },
];

/** The service says that it is running a while before it handles signals. */
export const ANNOUNCED_TOO_EARLY: readonly PlantedBug[] = [
  {
    file: "src/cli/serve.ts",
    from: "    stopOnSignal(running, {",
    to: "    announce(running, { log, isTerminal, exposed: false, data: config.data });\n    Bun.sleepSync(100);\n    stopOnSignal(running, {",
  },
];

import type { PlantedBug } from "./plant-bugs.ts";

/** Every create is answered before its commit begins; tokens are correct. */
export const ANSWER_BEFORE_COMMIT: readonly PlantedBug[] = [
  {
    file: "src/store/group-commit.ts",
    from: "const committed = commit(batch);",
    to: 'if (batch.tokens.length === 0) batch.outcomes.resolve({ creates: batch.creates.map(() => "created"), swaps: batch.swaps.map(() => true) }); const committed = new Promise<void>((go) => setTimeout(go, 5)).then(() => commit(batch));',
  },
];

/** No bug: the WAL is copied into the database after only a few creates, so that a test covers that too. */
export const CHECKPOINT_OFTEN: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/requirements.ts", from: "const WAL_PAGES_MAX = 4000;", to: "const WAL_PAGES_MAX = 20;" },
  { file: "src/store/sqlite/engine/writer.ts", from: "const COMMITS_A_LOOK = 16;", to: "const COMMITS_A_LOOK = 1;" },
];

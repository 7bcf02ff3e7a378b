import type { PlantedBug } from "./plant-bugs.ts";

/** No bug: the WAL is copied into the database after only a few creates, so that a test covers that too. */
export const CHECKPOINT_OFTEN: readonly PlantedBug[] = [
  { file: "src/store/sqlite/engine/requirements.ts", from: "const WAL_PAGES_MAX = 4000;", to: "const WAL_PAGES_MAX = 20;" },
  { file: "src/store/sqlite/engine/writer.ts", from: "const COMMITS_A_LOOK = 16;", to: "const COMMITS_A_LOOK = 1;" },
];

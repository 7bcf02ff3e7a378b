import { afterAll } from "bun:test";
import { removeTemporaryFolders } from "./temporary-folder.ts";
import { stopClusters } from "./postgres/cluster.ts";

// Loaded before all test files (bunfig.toml), so it runs after the last of them.
afterAll(async () => {
  await stopClusters();
  removeTemporaryFolders();
}, 60_000);

import { afterAll, setDefaultTimeout } from "bun:test";
import { removeTemporaryFolders } from "./temporary-folder.ts";
import { stopClusters } from "./postgres/cluster.ts";
import { stretchLimits } from "./patience.ts";
import { inForm } from "./run-form.ts";

// Loaded before each test file, which runs in its own process (bunfig.toml). With several files in one process, `bun
// test` forgets the limit after the first: `npm test -- NAMES` is the way to run several.

// One limit for all tests and hooks. It ends what hangs; no time limit of a test says how fast something must be.
setDefaultTimeout(inForm(30 * 60_000, 2 * 3_600_000));

stretchLimits();

afterAll(async () => {
  await stopClusters();
  removeTemporaryFolders();
});

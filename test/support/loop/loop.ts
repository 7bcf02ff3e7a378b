import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";

/** The variable that names the file to write into. */
export const LOOP_FILE = "TEST_LOOP_FILE";

/** How long the event loop of a service process is blocked. The service is unchanged: in this environment it loads `watch.ts` first. */
export function watchLoop() {
  const file = join(temporaryFolder(), "loop");
  writeFileSync(file, "");
  let since = 0;
  return {
    environment: { [LOOP_FILE]: file, BUN_OPTIONS: `--preload=${join(import.meta.dirname, "watch.ts")}` },
    /** Forgets everything before, such as the start. */
    reset() {
      since = Date.now();
    },
    /**
     * The longest time that the event loop was blocked, in milliseconds of the processor: other load on the machine does
     * not count. 0 if it was never blocked for more than 5.
     */
    longestMs() {
      const turns = readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ").map(Number));
      return turns.reduce((longest, [at = 0, ms = 0]) => (at > since ? Math.max(longest, ms) : longest), 0);
    },
  };
}

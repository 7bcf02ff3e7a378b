import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";

/** The variable that names the file to write into. */
export const LOOP_FILE = "TEST_LOOP_FILE";

/** How long nobody else has had a turn in a service that runs as a process. */
export type LoopWatch = Readonly<{
  /** What the service is to be started with. */
  environment: Readonly<Record<string, string>>;
  /** Forgets all that was before, such as the start. */
  reset(): void;
  /**
   * The longest time that the event loop was kept at a stretch, in milliseconds of the processor: that the machine is busy with something else does
   * not count. 0 when it was never kept for more than 5.
   */
  longestMs(): number;
}>;

/** Watches the service itself, as it is: it is told to load `watch.ts` first. */
export function watchLoop(): LoopWatch {
  const file = join(temporaryFolder(), "loop");
  writeFileSync(file, "");
  let since = 0;
  return {
    environment: { [LOOP_FILE]: file, BUN_OPTIONS: `--preload=${join(import.meta.dirname, "watch.ts")}` },
    reset() {
      since = Date.now();
    },
    longestMs() {
      const turns = readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ").map(Number));
      return turns.reduce((longest, [at = 0, ms = 0]) => (at > since ? Math.max(longest, ms) : longest), 0);
    },
  };
}

// Loaded into the service by `watchLoop`, before all of its own: writes down how long its event loop is kept at a stretch.
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { threadMs } from "../processor.ts";
import { LOOP_FILE } from "./loop.ts";

const TICK_MS = 2;

/** What is shorter is of no interest, in milliseconds. */
const TOLD_MS_MIN = 5;

if (isMainThread) {
  let last = threadMs();
  // Between two ticks lie at most one turn that is long and, when turns are short, TICK_MS: timers have their turn each time round.
  const timer = setInterval(() => {
    const now = threadMs();
    const kept = now - last - TICK_MS;
    last = now;
    if (kept > TOLD_MS_MIN) appendFileSync(process.env[LOOP_FILE]!, `${Date.now()} ${kept.toFixed(1)}\n`);
  }, TICK_MS);
  timer.unref();
}

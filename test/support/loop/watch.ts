// Loaded into the service by `watchLoop`, before its own code: records how long its event loop is blocked.
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { threadMs } from "../processor.ts";
import { LOOP_FILE } from "./loop.ts";

const TICK_MS = 2;

/** Shorter times do not matter, in milliseconds. */
const TOLD_MS_MIN = 5;

if (isMainThread) {
  let last = threadMs();
  // Between two ticks there is at most one long turn, or TICK_MS of short ones: timers run in every turn of the loop.
  const timer = setInterval(() => {
    const now = threadMs();
    const kept = now - last - TICK_MS;
    last = now;
    if (kept > TOLD_MS_MIN) appendFileSync(process.env[LOOP_FILE]!, `${Date.now()} ${kept.toFixed(1)}\n`);
  }, TICK_MS);
  timer.unref();
}

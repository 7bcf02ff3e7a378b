// The service with its event loop monitored. Usage: `bun bench/watched.ts FOLDER PORT`. It ends on SIGTERM and writes
// to FOLDER/busy-ms the longest time that the loop was busy without a break, in milliseconds of its own CPU time: what
// other programs do on the core does not count.
import { createMetrics } from "../src/runtime/metrics.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseConfig } from "../src/app/config.ts";
import { createLog } from "../src/runtime/log.ts";
import { start } from "../src/app/service.ts";

const [data = "", port = "0"] = process.argv.slice(2);
const log = createLog({ level: "warn", isTerminal: false, write: (line) => process.stderr.write(line), now: Date.now });
const running = await start(parseConfig({}, { data, port }), {
  metrics: createMetrics(),
  log,
  onFatal(reason) {
    throw reason;
  },
});

let longestMs = 0;
let last = busyMs();
setInterval(() => {
  const now = busyMs();
  longestMs = Math.max(longestMs, now - last);
  last = now;
}, 1);

process.once("SIGTERM", () => {
  const longest = longestMs;
  void running.stop().then(() => {
    writeFileSync(join(data, "busy-ms"), String(longest));
    process.exit(0);
  });
});

/** CPU time used by this thread. */
function busyMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

import { fstatSync } from "node:fs";
import type { Writable } from "node:stream";

/** How much may wait to be written. Beyond that, lines are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024;

/**
 * Writes the log. The service does not depend on its reader: lines that cannot be written, or would pile up in memory,
 * are dropped, and `onGap` gets their number once lines are written again.
 */
export function openOutput(stream: Writable, onGap: (lines: number) => void): (line: string) => void {
  let waitingBytes = 0;
  let missing = 0;
  // Without a listener, a closed pipe or a full disk would end the process.
  stream.on("error", () => {});

  function reportGap(): void {
    const lines = missing;
    missing = 0;
    onGap(lines);
  }

  return (line) => {
    if (waitingBytes > WAITING_BYTES_MAX) {
      missing += 1;
      return;
    }
    waitingBytes += line.length;
    stream.write(line, (reason) => {
      waitingBytes -= line.length;
      if (reason) missing += 1;
      else if (missing > 0 && waitingBytes < WAITING_BYTES_MAX / 2) reportGap();
    });
  };
}

const STDOUT = 1;

/** Whether standard output is the journal of systemd: then JOURNAL_STREAM has its device and inode (systemd.exec(5)). */
export function isJournal({ JOURNAL_STREAM }: NodeJS.ProcessEnv): boolean {
  if (JOURNAL_STREAM === undefined) return false;
  const { dev, ino } = fstatSync(STDOUT);
  return JOURNAL_STREAM === `${dev}:${ino}`;
}

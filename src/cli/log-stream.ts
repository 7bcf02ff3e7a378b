import type { Writable } from "node:stream";

/** How much may wait for whoever reads the log: more is left out. */
const WAITING_BYTES_MAX = 1024 * 1024;

/**
 * Where the log goes. The service depends on nobody who reads it: lines that cannot be written, or that would pile up in memory, are
 * left out, and `onGap` is told how many once lines are written again.
 */
export function openOutput(stream: Writable, onGap: (lines: number) => void): (line: string) => void {
  let waitingBytes = 0;
  let missing = 0;
  // Without a listener, a reader that has gone or a full disk would end the process.
  stream.on("error", () => {});

  function tellGap(): void {
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
      else if (missing > 0 && waitingBytes < WAITING_BYTES_MAX / 2) tellGap();
    });
  };
}

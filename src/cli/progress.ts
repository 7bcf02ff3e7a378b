import { Format, SingleBar } from "cli-progress";
import { escapeControls } from "../runtime/terminal-text.ts";
import { onInterruption } from "./interruption.ts";

export type Progress = ReturnType<typeof showProgress>;

/** How often to write a line without a terminal, in milliseconds. */
const LINE_MS = 5000;

/** Anything shorter shows no progress, in milliseconds. */
const SILENT_MS = 1000;

/**
 * Shows progress on stderr: a bar with rate and remaining time on a terminal, otherwise a line now and then. `total` in
 * bytes; undefined if unknown.
 */
export function showProgress(name: string, total: number | undefined) {
  const what = escapeControls(name);
  const isTerminal = process.stderr.isTTY;
  const start = Date.now();
  let bytes = 0;
  const bar = new SingleBar({
    stream: process.stderr,
    noTTYOutput: true,
    notTTYSchedule: LINE_MS,
    hideCursor: null,
    clearOnComplete: isTerminal,
    format: (options, { eta }) => {
      const ms = Date.now() - start;
      // Some work cannot be told in bytes.
      if (bytes === 0) return `${what}  ${Math.round(ms / 1000)} s`;
      const rate = `${megabytes((bytes * 1000) / ms)} a second`;
      if (total === undefined) return `${what}  ${megabytes(bytes)}, ${rate}`;
      const drawn = isTerminal ? `${Format.BarFormat(bytes / total, options)}  ` : "";
      return `${what}  ${drawn}${megabytes(bytes)} of ${megabytes(total)}, ${rate}${bytes < total ? left(eta) : ", finishing"}`;
    },
  });
  const timer = setTimeout(() => bar.start(total ?? 0, bytes), SILENT_MS);
  function close(): void {
    clearTimeout(timer);
    if (bar.isActive) bar.stop();
  }
  // A bar that is not stopped leaves the terminal without line wrap.
  const forget = onInterruption(close);
  return {
    bytes: () => bytes,
    count(more: number): void {
      bytes += more;
      if (bar.isActive) bar.update(bytes);
    },
    stop(): void {
      forget();
      close();
    },
  };
}

/** Nothing while it cannot be told, in seconds. */
function left(eta: number): string {
  return Number.isFinite(eta) ? `, ${eta} s left` : "";
}

/** The same pieces, counted as they are read. */
export async function* counted<Piece extends Uint8Array | string>(
  pieces: AsyncIterable<Piece>,
  { count }: Progress,
): AsyncGenerator<Piece, void, void> {
  for await (const piece of pieces) {
    count(Buffer.byteLength(piece));
    yield piece;
  }
}

export function megabytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

import type { ImportProblem } from "../../src/client/client.ts";
import type { CheckedFile } from "./check-file.ts";
import { add, sendSlice } from "./send-slice.ts";
import type { Counts, SendOptions, Sent } from "./send-slice.ts";
import { readSlices } from "./slices.ts";

/** How far an import is, and what became of the lines so far. */
export type SentSoFar = Readonly<{
  /** What the page calls this import: all slices are one. */
  name: string;
  /** What the service calls it; undefined until it has told. */
  id: string | undefined;
  /** How many slices are stored. */
  slices: number;
  counts: Counts;
  problems: readonly ImportProblem[];
  /** The lines on which refused rows begin. */
  refusedLines: readonly number[];
  /** Rows on their way: whether they are stored is not known yet. */
  underWay: number;
  /** Whether the last slice did not go through, and is tried again. */
  isWaiting: boolean;
}>;

/** The beginning of an import. */
export function nothingSent(): SentSoFar {
  return {
    name: Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join("-"),
    id: undefined,
    slices: 0,
    counts: { read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0 },
    problems: [],
    refusedLines: [],
    underWay: 0,
    isWaiting: false,
  };
}

const PROBLEMS_KEPT = 10_000;

/** What is under way may be stored, wanted or not: its answer is waited for so long. */
const GRACE_MS = 2_000;

type SendFileOptions = Omit<SendOptions, "dryRun" | "name" | "onWait"> & Readonly<{ onProgress: (progress: SentSoFar) => void }>;

/**
 * Imports a file slice by slice, as a browser does not tell how far a single request is. Begins where `from` ended. What was stored stays
 * stored, whatever it throws; `onProgress` has told how far it came. When it is aborted, it first hears what became of the slice under way.
 */
export async function sendFile(checked: CheckedFile, from: SentSoFar, { onProgress, ...options }: SendFileOptions): Promise<void> {
  let progress = from;
  let at = 0;
  const signal = abortedLater(options.signal);
  for await (const slice of readSlices(checked)) {
    if ((at += 1) <= from.slices) continue;
    options.signal.throwIfAborted();
    const tell = (isWaiting: boolean) => onProgress({ ...progress, underWay: slice.rows.length, isWaiting });
    tell(false);
    progress = withSent(progress, await sendSlice(slice, { ...options, name: from.name, signal, onWait: () => tell(true) }));
    onProgress(progress);
  }
}

function abortedLater(signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  signal.addEventListener("abort", () => setTimeout(() => later.abort(signal.reason), GRACE_MS), { once: true });
  return later.signal;
}

function withSent({ name, id, slices, counts, problems, refusedLines }: SentSoFar, sent: Sent): SentSoFar {
  return {
    name,
    id: sent.id ?? id,
    slices: slices + 1,
    counts: add(counts, sent.counts),
    problems: problems.length < PROBLEMS_KEPT ? [...problems, ...sent.problems] : problems,
    refusedLines: [...refusedLines, ...sent.problems.map(({ line }) => line)],
    underWay: 0,
    isWaiting: false,
  };
}

import { ServiceError, UnexpectedAnswerError } from "../../src/client/client.ts";
import type { Client, ImportProblem, ImportSummary } from "../../src/client/client.ts";
import { toCsvQuery } from "../../src/files/csv-options.ts";
import { isTransient } from "../failure-text.ts";
import type { CheckedFile } from "./check-file.ts";
import { pickRows, sliceBody, toFileProblem } from "./slices.ts";
import type { Slice } from "./slices.ts";

/** What becomes of a plant in the file whose id another plant has. */
export type OnConflict = "refuse" | "replace";

/** How far an import is, and what became of the lines so far. */
export type SentSoFar = Readonly<{
  /** How many slices are stored. */
  slices: number;
  counts: Counts;
  problems: readonly ImportProblem[];
  /** The refused lines as they stand in the file; of CSV without the first line. */
  refusedLines: readonly Blob[];
  /** Rows on their way: whether they are stored is not known yet. */
  underWay: number;
  /** Whether the last slice did not go through, and is tried again. */
  isWaiting: boolean;
}>;

type Counts = Readonly<Pick<ImportSummary, "read" | "created" | "unchanged" | "replaced" | "refused">>;

type SendOptions = Readonly<{ client: Client; onConflict: OnConflict; signal: AbortSignal }>;

export const NOTHING_SENT: SentSoFar = {
  slices: 0,
  counts: { read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0 },
  problems: [],
  refusedLines: [],
  underWay: 0,
  isWaiting: false,
};

const PROBLEMS_KEPT = 10_000;

/** How often a slice is tried: to send one again is safe. */
const TRIES = 6;
/** How many of them count while there is no network. */
const TRIES_OFFLINE = 2;
const PAUSE_MS = 500;
/** The longest pause that is taken from a response: a proxy may name a day, or what no timer can wait. */
const ASKED_MS_MAX = 600_000;

/** What is under way may be stored, wanted or not: its answer is waited for so long. */
const GRACE_MS = 2_000;

/**
 * Imports a file slice by slice, as a browser does not tell how far a single request is. Begins where `from` ended. What was stored stays
 * stored, whatever it throws; `onProgress` has told how far it came. When it is aborted, it first hears what became of the slice under way.
 */
export async function sendFile(
  checked: CheckedFile,
  from: SentSoFar,
  { onProgress, ...options }: SendOptions & Readonly<{ onProgress: (progress: SentSoFar) => void }>,
): Promise<void> {
  let progress = from;
  const signal = abortedLater(options.signal);
  for (const slice of checked.slices.slice(from.slices)) {
    options.signal.throwIfAborted();
    const tell = (isWaiting: boolean) => onProgress({ ...progress, underWay: slice.rows, isWaiting });
    tell(false);
    const summary = await sendSlice(checked, slice, { ...options, signal, onWait: () => tell(true) });
    progress = await withSummary(progress, summary, { checked, slice });
    onProgress(progress);
  }
}

function abortedLater(signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  signal.addEventListener("abort", () => setTimeout(() => later.abort(signal.reason), GRACE_MS), { once: true });
  return later.signal;
}

export async function sendSlice(
  checked: CheckedFile,
  slice: Slice,
  { client, onConflict, signal, dryRun = false, onWait }: SendOptions & Readonly<{ dryRun?: boolean; onWait?: () => void }>,
): Promise<ImportSummary> {
  const { format, csv, header } = checked;
  const ids = csv.ids.kind === "from" ? { ...csv.ids, first: csv.ids.first + BigInt(slice.before) } : csv.ids;
  // Each slice names the columns, so that all have as many, unless every row of the file is faulty.
  const hasHeader = csv.hasHeader || header.names !== "";
  const query = format === "csv" ? toCsvQuery({ ...csv, ids, hasHeader }) : {};
  const body = await sliceBody(checked, slice);
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.importPlants(body, { ...query, format, onConflict, signal, ...(dryRun ? { dryRun } : {}) });
    } catch (thrown) {
      // Without a network a try tells nothing: a walk through a cellar would end the import.
      if ((navigator as { onLine?: boolean }).onLine === false) tries = Math.min(tries, TRIES_OFFLINE);
      if (tries >= TRIES || !isTransient(thrown)) throw thrown;
      onWait?.();
      const isAnswer = thrown instanceof ServiceError || thrown instanceof UnexpectedAnswerError;
      const asked = isAnswer ? Math.min(thrown.retryAfterMs ?? 0, ASKED_MS_MAX) : 0;
      await new Promise((resolve) => {
        setTimeout(resolve, asked + PAUSE_MS * tries);
        signal.addEventListener("abort", resolve, { once: true });
      });
      signal.throwIfAborted();
    }
  }
}

type Place = Readonly<{ checked: CheckedFile; slice: Slice }>;

async function withSummary({ slices, ...before }: SentSoFar, summary: ImportSummary, { checked, slice }: Place): Promise<SentSoFar> {
  const told = summary.problems.map((problem) => toFileProblem(problem, checked, slice));
  const picked = told.length === 0 ? [] : [new Blob(await pickRows(checked, slice, new Set(told.map(({ line }) => line))))];
  const sum = (count: keyof Counts) => before.counts[count] + summary[count];
  return {
    slices: slices + 1,
    counts: {
      read: sum("read"),
      created: sum("created"),
      unchanged: sum("unchanged"),
      replaced: sum("replaced"),
      refused: sum("refused"),
    },
    problems: before.problems.length < PROBLEMS_KEPT ? [...before.problems, ...told] : before.problems,
    refusedLines: [...before.refusedLines, ...picked],
    underWay: 0,
    isWaiting: false,
  };
}

import { ServiceError, UnexpectedAnswerError } from "../../src/client/client.ts";
import type { Client, ImportProblem, ImportSummary } from "../../src/client/client.ts";
import { toCsvQuery } from "../../src/files/csv-options.ts";
import type { CsvOptions } from "../../src/files/csv-options.ts";
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
  /** The first problems. */
  problems: readonly ImportProblem[];
  /** The refused lines as they stand in the file; of CSV without the first line. */
  refusedLines: readonly Blob[];
  /** Rows on their way: whether they are stored is not known yet. */
  underWay: number;
  /** Whether the last slice did not go through, and is tried again. */
  isWaiting: boolean;
}>;

type Counts = Readonly<Pick<ImportSummary, "read" | "created" | "unchanged" | "replaced" | "refused">>;

type SendOptions = Readonly<{
  client: Client;
  onConflict: OnConflict;
  signal: AbortSignal;
  isDryRun?: boolean;
  onProgress: (progress: SentSoFar) => void;
}>;

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
export async function sendFile(checked: CheckedFile, from: SentSoFar, options: SendOptions): Promise<void> {
  let progress = from;
  const signal = abortedLater(options.signal);
  for (const slice of checked.slices.slice(from.slices)) {
    options.signal.throwIfAborted();
    const body = await sliceBody(checked, slice);
    options.onProgress({ ...progress, underWay: slice.rows, isWaiting: false });
    const onWait = () => options.onProgress({ ...progress, underWay: slice.rows, isWaiting: true });
    const summary = await sendSlice({ body, slice, checked }, { ...options, signal }, onWait);
    progress = await withSummary({ progress, summary, checked, slice });
    options.onProgress(progress);
  }
}

function abortedLater(signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  signal.addEventListener("abort", () => setTimeout(() => later.abort(signal.reason), GRACE_MS), { once: true });
  return later.signal;
}

/** How a slice is read: each names the columns, so that all have as many, unless every row of the file is faulty. */
function csvOptionsOf({ csv, header }: CheckedFile): CsvOptions {
  return { ...csv, hasHeader: csv.hasHeader || header.names !== "" };
}

type Sent = Readonly<{ body: Blob; slice: Slice; checked: CheckedFile }>;

export async function sendSlice(
  { body, slice, checked }: Sent,
  { client, onConflict, signal, isDryRun = false }: Omit<SendOptions, "onProgress">,
  onWait: () => void,
): Promise<ImportSummary> {
  const { format } = checked;
  const csv = csvOptionsOf(checked);
  const { ids } = csv;
  const numbered = ids.kind === "from" ? { ...csv, ids: { ...ids, first: ids.first + BigInt(slice.before) } } : csv;
  const query = format === "csv" ? toCsvQuery(numbered) : {};
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.importPlants(body, { ...query, format, onConflict, signal, ...(isDryRun ? { dryRun: true } : {}) });
    } catch (thrown) {
      // Without a network a try tells nothing: a walk through a cellar would end the import.
      if ((navigator as { onLine?: boolean }).onLine === false) tries = Math.min(tries, TRIES_OFFLINE);
      if (tries >= TRIES || !isTransient(thrown)) throw thrown;
      onWait();
      const asked =
        thrown instanceof ServiceError || thrown instanceof UnexpectedAnswerError ? Math.min(thrown.retryAfterMs ?? 0, ASKED_MS_MAX) : 0;
      await new Promise((resolve) => {
        setTimeout(resolve, asked + PAUSE_MS * tries);
        signal.addEventListener("abort", resolve, { once: true });
      });
      signal.throwIfAborted();
    }
  }
}

type Step = Omit<Sent, "body"> & Readonly<{ progress: SentSoFar; summary: ImportSummary }>;

async function withSummary({ progress, summary, checked, slice }: Step): Promise<SentSoFar> {
  const { counts, problems, refusedLines } = progress;
  const told = summary.problems.map((problem) => toFileProblem(problem, checked, slice));
  const picked = told.length === 0 ? [] : [new Blob(await pickRows(checked, slice, new Set(told.map(({ line }) => line))))];
  return {
    slices: progress.slices + 1,
    counts: {
      read: counts.read + summary.read,
      created: counts.created + summary.created,
      unchanged: counts.unchanged + summary.unchanged,
      replaced: counts.replaced + summary.replaced,
      refused: counts.refused + summary.refused,
    },
    problems: problems.length < PROBLEMS_KEPT ? [...problems, ...told] : problems,
    refusedLines: [...refusedLines, ...picked],
    underWay: 0,
    isWaiting: false,
  };
}

import { ServiceError, UnexpectedAnswerError } from "../../src/client/page-client.ts";
import type { Client, ImportProblem, ImportSummary } from "../../src/client/client.ts";
import { toText } from "../../src/domain/plant.ts";
import type { Row } from "../../src/files/row.ts";
import { isTransient } from "../failure-text.ts";
import { toProblem } from "./check-file.ts";
import type { Slice } from "./slices.ts";

/** What becomes of a plant in the file whose id another plant has. */
export type OnConflict = "refuse" | "replace";

export type Counts = Readonly<Pick<ImportSummary, "read" | "created" | "unchanged" | "replaced" | "refused">>;
export type Fate = NonNullable<ImportSummary["outcomes"]>[number];

/** What became of the rows of a slice. `id`: of the import, if anything was sent. `fates`: of a dry run, of each of them. */
export type Sent = Readonly<{
  id: string | undefined;
  counts: Counts;
  problems: readonly ImportProblem[];
  fates: readonly (Fate | undefined)[];
}>;

export type SendOptions = Readonly<{
  client: Client;
  onConflict: OnConflict;
  signal: AbortSignal;
  /** What all slices of a file are called. */
  name?: string;
  dryRun?: boolean;
  onWait?: () => void;
}>;

/** How often a slice is tried: to send one again is safe. */
const TRIES = 6;
/** How many of them count while there is no network. */
const TRIES_OFFLINE = 2;
const PAUSE_MS = 500;
/** The longest pause that is taken from a response: a proxy may name a day, or what no timer can wait. */
const ASKED_MS_MAX = 600_000;

type PlantRow = Extract<Row, { plant: unknown }>;

/** Sends the plants of a slice; what is no plant is refused here. Those with ids that were made replace none. */
export async function sendSlice({ rows }: Slice, options: SendOptions): Promise<Sent> {
  const { onConflict } = options;
  const plants = rows.filter((row) => "plant" in row);
  const isKeeping = (row: PlantRow) => onConflict === "replace" && row.isIdMade === true;
  const refused = rows.filter((row) => "refusal" in row).map(toProblem);
  const fates = new Map<Row, Fate | undefined>();
  let counts: Counts = { read: rows.length, created: 0, unchanged: 0, replaced: 0, refused: refused.length };
  const problems = [...refused];
  let id: string | undefined;
  for (const [some, rule] of [
    [plants.filter((row) => !isKeeping(row)), onConflict],
    [plants.filter(isKeeping), "refuse"],
  ] as const) {
    if (some.length === 0) continue;
    const summary = await sendLines(some.map(({ plant }) => `${toText(plant)}\n`).join(""), { ...options, onConflict: rule });
    some.forEach((row, at) => fates.set(row, summary.outcomes?.[at]));
    problems.push(...summary.problems.map(({ line, ...problem }) => ({ line: some[line - 1]!.line, ...problem })));
    counts = add(counts, { ...summary, read: 0 });
    id = summary.import;
  }
  return {
    id,
    counts,
    problems: problems.toSorted((one, other) => one.line - other.line),
    fates: rows.map((row) => ("refusal" in row ? "refused" : fates.get(row))),
  };
}

export function add(some: Counts, more: Counts): Counts {
  const sum = (count: keyof Counts) => some[count] + more[count];
  return { read: sum("read"), created: sum("created"), unchanged: sum("unchanged"), replaced: sum("replaced"), refused: sum("refused") };
}

async function sendLines(text: string, { client, onConflict, signal, name, dryRun = false, onWait }: SendOptions): Promise<ImportSummary> {
  for (let tries = 1; ; tries += 1) {
    try {
      const called = name === undefined ? {} : { import: name };
      return await client.importPlants(text, { format: "ndjson", onConflict, signal, ...called, ...(dryRun ? { dryRun } : {}) });
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

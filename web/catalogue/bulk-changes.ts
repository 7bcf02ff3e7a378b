import { ServiceError } from "../../src/client/client.ts";
import type { ChangeOutcome, Client, PlantChange } from "../../src/client/client.ts";
import { failureText } from "../failure-text.ts";
import { holdPage } from "../leaving.ts";
import { isSame } from "../../src/domain/plant.ts";
import { DONE_MS, PROBLEM_MS } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { interruptedText, plantOf, resultText } from "./bulk-text.ts";
import type { BulkResult, BulkWords } from "./bulk-text.ts";
import type { KeptUndo, Undo } from "./kept-undo.ts";
import type { NotedChange } from "./listing.ts";
import { createOffers } from "./offers.ts";
import type { Offer } from "./offers.ts";

/** Changes of many plants at once, told by one message, and undone by one button. */
export type BulkChanges = Readonly<{
  /** Resolves with whether all were made: none was stopped, failed, or left because somebody had changed the plant. */
  run: (bulk: Bulk) => Promise<boolean>;
  /** What changes of many plants can be undone now. */
  offers: () => readonly Offer[];
  /** Says what became of the edit of one plant, which was sent elsewhere, and offers to undo it. */
  offerEdit: (change: PlantChange, said: Pick<Undo, "kind" | "text">) => void;
  /** Offers to undo what was done before a reload. */
  offer: () => void;
}>;

type Bulk = BulkWords &
  Readonly<{
    changes: AsyncIterable<PlantChange> | readonly PlantChange[];
    /** Roughly how many there are, if only that is known. */
    about?: number;
    /** Whether a single plant that was changed is worth no message. */
    isQuiet?: boolean;
    /** What could be undone when people asked for this, if that is a while ago. What they did since stays. */
    replaces?: readonly Offer[];
  }>;

type BulkOptions = Readonly<{
  client: Client;
  notices: Notices;
  keptUndo: KeptUndo;
  /** How many changes were sent so far, each try counted. */
  changesSent: () => number;
  /** Aborted when the user has signed out. What was done is told, and offered to nobody to be undone. */
  signedOut: AbortSignal;
  /** Tells the parts of the page what was changed, and what others were seen to have changed. */
  onChanged: (made: readonly NotedChange[], seen: readonly NotedChange[]) => void;
}>;

/** Work that is over sooner shows no progress. */
const PROGRESS_MS = 300;

export function createBulkChanges({ client, notices, keptUndo, changesSent, signedOut, onChanged }: BulkOptions): BulkChanges {
  /** Of many plants only what was done last, and what was asked for earlier and done later. */
  const offers = createOffers({ notices, keptUndo });
  /** The undo that was asked for last. The next one may be of the same plant, and would take it for a change of somebody else. */
  let undoing = Promise.resolve();

  /** Sends the changes, and says how far it is. Nothing that was sent is left out of the result. */
  async function send(bulk: Bulk): Promise<BulkResult> {
    const sent = new Map<bigint, PlantChange>();
    const made: PlantChange[] = [];
    const already: PlantChange[] = [];
    const conflicts: Array<ChangeOutcome & { kind: "conflict" }> = [];
    const failed: PlantChange[] = [];
    let failure: string | undefined;
    let isStopped = false;
    let sentBefore = changesSent();
    const hideProgress = showProgress(bulk, {
      reached: () => made.length + already.length + conflicts.length,
      onStop: () => (isStopped = true),
    });
    const release = holdPage();
    async function* untilStopped(): AsyncGenerator<PlantChange> {
      for await (const change of bulk.changes) {
        if (isStopped) return;
        signedOut.throwIfAborted();
        sent.set(idOf(change), change);
        yield change;
      }
    }

    try {
      for await (const outcome of client.change(untilStopped())) {
        sentBefore = changesSent();
        sent.delete(idOf(outcome.change));
        if (outcome.kind === "failed") {
          failure = outcome.message;
          failed.push(outcome.change);
        } else if (outcome.kind === "conflict") conflicts.push(outcome);
        else if (outcome.kind === "same" && !outcome.isRetried) already.push(outcome.change);
        else made.push(outcome.change);
      }
    } catch (thrown) {
      failure = failureText(thrown);
      if (isUnmade(thrown, changesSent() - sentBefore)) sent.clear();
    } finally {
      hideProgress();
      release();
    }
    return { made, already, conflicts, unknown: [...failed, ...sent.values()], failure, isStopped };
  }

  /** Returns what hides it. */
  function showProgress({ doing, total, about }: Bulk, { reached, onStop }: { reached: () => number; onStop: () => void }): () => void {
    const all = (total ?? about)?.toLocaleString();
    const of = all === undefined ? "" : total === undefined ? ` of about ${all}` : ` of ${all}`;
    let notice: number | undefined;
    const timer = setInterval(() => {
      const detail = `${reached().toLocaleString()}${of}`;
      const action = { label: "Stop", run: onStop };
      if (signedOut.aborted && notice === undefined) return;
      if (notice === undefined) notice = notices.add({ kind: "done", text: `${doing}…`, detail, action });
      else notices.update(notice, { detail });
    }, PROGRESS_MS);
    return () => {
      clearInterval(timer);
      if (notice !== undefined) notices.close(notice);
    };
  }

  function noteAll({ made, already, conflicts }: BulkResult): void {
    const changed = [...made, ...already].map(({ from, to }) => ({ before: from, after: to }));
    const seen = conflicts.flatMap(({ change, now }) =>
      now === undefined ? [] : [{ before: change.from ?? change.to, after: now ?? undefined }],
    );
    onChanged(changed, seen);
  }

  async function run(bulk: Bulk): Promise<boolean> {
    const { changes, replaces = offers.ofMany() } = bulk;
    const result = await sendKept(bulk, Symbol.asyncIterator in changes ? undefined : { changes, label: "Undo" });
    // To undo their edits would only meet what was done now.
    if (!signedOut.aborted) offers.forgetEditsOf(new Set(result.made.map(idOf)));
    tell(result, bulk, replaces);
    const { conflicts, unknown, failure, isStopped } = result;
    return failure === undefined && !isStopped && unknown.length === 0 && conflicts.length === 0;
  }

  /** Says what was done, and offers to undo it in the place of what could be undone before. */
  function tell(result: BulkResult, bulk: Bulk, replaces: readonly Offer[]): void {
    const { made, already, conflicts, unknown, failure } = result;
    // What may have been made can be undone like what was: if it was not, the plant is as it was already.
    const mine = [...made, ...unknown];
    // Where nothing needed a change, it may have been this page: a browser sends a request again by itself when a connection breaks that it had
    // used before, and hears only what the second one came to. Or it was somebody else: then what was done before is still this page's last.
    const undoable = mine.length > 0 ? mine : already;
    const isPlain = unknown.length === 0 && conflicts.length === 0 && failure === undefined;
    if (bulk.isQuiet === true && isPlain && made.length + already.length <= 1) return;
    const kind = failure === undefined ? "done" : "problem";
    const text = resultText(result, bulk);
    // Who has to sign in again may take a while: what went wrong is still there then.
    if (signedOut.aborted || (undoable.length === 0 && failure !== undefined)) notices.add({ kind, text });
    else if (undoable.length === 0) notices.add({ kind, text, lastsMs: PROBLEM_MS });
    else offer({ kind, text, changes: undoable, label: "Undo" }, mine.length > 0 ? replaces : []);
  }

  /** Sends the changes, and takes over what was done, unless the page is somebody else's then. Meanwhile `undoable` is kept. */
  async function sendKept(bulk: Bulk, undoable: Pick<Undo, "changes" | "label" | "isEdit"> | undefined): Promise<BulkResult> {
    // It may have waited for its turn until after a sign-out: then nothing is sent.
    const kept = signedOut.aborted ? undefined : undoable && ({ kind: "problem", text: interruptedText(bulk), ...undoable } as const);
    const end = kept && offers.begin(kept);
    const result = await send(bulk);
    end?.();
    if (signedOut.aborted) return result;
    offers.keep();
    noteAll(result);
    return result;
  }

  function offer(undoable: Undo, replaces: readonly Offer[] = []): void {
    offers.add({ undo: undoable, run: () => void (undoing = undo(undoable, undoing)) }, replaces);
  }

  async function undo({ changes, isEdit }: Undo, before: Promise<void>): Promise<void> {
    // What is left of the undo of an edit still comes before those of earlier edits.
    const again = { label: "Go on undoing", ...(isEdit ? { isEdit } : {}) } as const;
    async function* inTurn(): AsyncGenerator<PlantChange> {
      await before;
      yield* changes.map(({ from, to }) => ({ from: to, to: from }));
    }
    const bulk = {
      changes: inTurn(),
      total: changes.length,
      doing: "Undoing",
      phrases: (plants: string) => ({ doing: `Restoring ${plants}`, done: `Restored ${plants}` }),
    };
    const result = await sendKept(bulk, { changes, ...again });
    const { conflicts, failure, isStopped } = result;
    // Both count as restored: what is undone may never have been made.
    const made = [...result.made, ...result.already];
    const text = resultText({ ...result, made, already: [] }, bulk);
    if (signedOut.aborted) return void notices.add({ kind: failure === undefined ? "done" : "problem", text });
    if (failure === undefined && !isStopped) return void notices.add({ kind: "done", text, lastsMs: PROBLEM_MS });
    const over = new Set([...made, ...conflicts.map(({ change }) => change)].map(idOf));
    const rest = changes.filter((change) => !over.has(idOf(change)));
    offer({ kind: "problem", text, changes: rest, ...again });
  }

  return {
    run,
    offers: offers.ofMany,
    offerEdit(change, said) {
      if (signedOut.aborted || isSame(change.from, change.to)) notices.add({ ...said, lastsMs: DONE_MS });
      else offer({ ...said, changes: [change], label: "Undo", isEdit: true });
    },
    offer() {
      for (const kept of keptUndo.find()) offer(kept);
    },
  };
}

/** Whether a failure says that the last changes were not made: they were refused as a whole, and not sent before that. */
function isUnmade(thrown: unknown, tries: number): boolean {
  return tries === 0 || (tries === 1 && thrown instanceof ServiceError && thrown.status < 500);
}

function idOf(change: PlantChange): bigint {
  return plantOf(change).id;
}

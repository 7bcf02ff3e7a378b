import { ServiceError } from "../../src/client/page-client.ts";
import type { ChangeOutcome, Client, PlantChange } from "../../src/client/client.ts";
import { failureText } from "../failure-text.ts";
import { holdPage } from "../leaving.ts";
import { isSame } from "../../src/domain/plant.ts";
import { DONE_MS, Notices, PROBLEM_MS } from "../notices.ts";
import { interruptedText, plantOf, resultText } from "./bulk-text.ts";
import type { BulkResult, BulkWords, Phrases } from "./bulk-text.ts";
import type { KeptUndo, Undo } from "./kept-undo.ts";
import type { NotedChange } from "./noted-change.ts";
import { Offers } from "./offers.ts";
import type { Offer } from "./offers.ts";

type Bulk = BulkWords &
  Readonly<{
    changes: AsyncIterable<PlantChange> | readonly PlantChange[];
    /** Roughly how many there are, if only that is known. */
    about?: number | undefined;
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
  /** Aborted when the user has signed out. What was done is told, and offered to no one to be undone. */
  signedOut: AbortSignal;
  /** Tells the parts of the page what was changed, and what others were seen to have changed. */
  onChanged: (made: readonly NotedChange[], seen: readonly NotedChange[]) => void;
}>;

/** Work that is over sooner shows no progress. */
const PROGRESS_MS = 300;

/** Changes of many plants at once, told by one message, and undone by one button. */
export class BulkChanges {
  readonly #options: BulkOptions;
  /** Of many plants only what was done last, and what was asked for earlier and done later. */
  readonly #offers: Offers;
  /** The undo that was asked for last. The next one may be of the same plant, and would take it for a change of someone else. */
  #undoing = Promise.resolve();

  constructor(options: BulkOptions) {
    this.#options = options;
    this.#offers = new Offers(options);
  }

  /** Resolves with whether all were made: none was stopped, failed, or left because someone had changed the plant. */
  async run(bulk: Bulk): Promise<boolean> {
    const { changes, replaces = this.#offers.ofMany() } = bulk;
    const result = await this.#sendKept(bulk, Symbol.asyncIterator in changes ? undefined : { changes, label: "Undo" });
    // To undo their edits would only meet what was done now.
    if (!this.#options.signedOut.aborted) this.#offers.forgetEditsOf(new Set(result.made.map(idOf)));
    this.#tell(result, bulk, replaces);
    return !result.isStopped && isPlain(result);
  }

  /** What changes of many plants can be undone now. */
  offers(): readonly Offer[] {
    return this.#offers.ofMany();
  }

  /** Says what became of the edit of one plant, which was sent elsewhere, and offers to undo it. */
  offerEdit(change: PlantChange, said: Pick<Undo, "kind" | "text">): void {
    const { signedOut, notices } = this.#options;
    if (signedOut.aborted || isSame(change.from, change.to)) notices.add({ ...said, lastsMs: DONE_MS });
    else this.#offer({ ...said, changes: [change], label: "Undo", isEdit: true });
  }

  offer(): void {
    for (const kept of this.#options.keptUndo.find()) this.#offer(kept);
  }

  /** Sends the changes, and takes over what was done, unless the page is someone else's then. Meanwhile `undoable` is kept. */
  async #sendKept(bulk: Bulk, undoable: Pick<Undo, "changes" | "label" | "isEdit"> | undefined): Promise<BulkResult> {
    const { signedOut, onChanged } = this.#options;
    // It may have waited for its turn until after a sign-out: then nothing is sent.
    const kept = signedOut.aborted ? undefined : undoable && ({ kind: "problem", text: interruptedText(bulk), ...undoable } as const);
    const end = kept && this.#offers.begin(kept);
    const result = await this.#send(bulk);
    end?.();
    if (signedOut.aborted) return result;
    this.#offers.keep();
    const { made, already, conflicts } = result;
    const changed = [...made, ...already].map(({ from, to }) => ({ before: from, after: to }));
    const met = conflicts.filter(({ now }) => now !== undefined);
    const seen = met.map(({ change, now }) => ({ before: change.from ?? change.to, after: now ?? undefined }));
    onChanged(changed, seen);
    return result;
  }

  /** Sends the changes, and says how far it is. Nothing that was sent is left out of the result. */
  async #send(bulk: Bulk): Promise<BulkResult> {
    const { client, changesSent } = this.#options;
    const sent = new Map<bigint, PlantChange>();
    const made: PlantChange[] = [];
    const already: PlantChange[] = [];
    const conflicts: Array<ChangeOutcome & { kind: "conflict" }> = [];
    const failed: PlantChange[] = [];
    let failure: string | undefined;
    const stop = new AbortController();
    let sentBefore = changesSent();
    const hideProgress = this.#showProgress(bulk, () => made.length + already.length + conflicts.length, stop);
    const release = holdPage();
    try {
      for await (const outcome of client.change(this.#untilStopped(bulk.changes, sent, stop.signal))) {
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
    return { made, already, conflicts, unknown: [...failed, ...sent.values()], failure, isStopped: stop.signal.aborted };
  }

  /** Notes in `sent` what it passes on. */
  async *#untilStopped(changes: Bulk["changes"], sent: Map<bigint, PlantChange>, stopped: AbortSignal): AsyncGenerator<PlantChange> {
    for await (const change of changes) {
      if (stopped.aborted) return;
      this.#options.signedOut.throwIfAborted();
      sent.set(idOf(change), change);
      yield change;
    }
  }

  /** Returns what hides it. */
  #showProgress({ doing, total, about }: Bulk, reached: () => number, stop: AbortController): () => void {
    const { notices, signedOut } = this.#options;
    const all = (total ?? about)?.toLocaleString();
    const of = all === undefined ? "" : total === undefined ? ` of about ${all}` : ` of ${all}`;
    let notice: number | undefined;
    const timer = setInterval(() => {
      const detail = `${reached().toLocaleString()}${of}`;
      const action = { label: "Stop", run: () => stop.abort() };
      if (signedOut.aborted && notice === undefined) return;
      if (notice === undefined) notice = notices.add({ kind: "done", text: `${doing}…`, detail, action });
      else notices.update(notice, { detail });
    }, PROGRESS_MS);
    return () => {
      clearInterval(timer);
      if (notice !== undefined) notices.close(notice);
    };
  }

  /** Says what was done, and offers to undo it in the place of what could be undone before. */
  #tell(result: BulkResult, bulk: Bulk, replaces: readonly Offer[]): void {
    const { signedOut, notices } = this.#options;
    const { made, already, unknown, failure } = result;
    // What may have been made can be undone like what was: if it was not, the plant is as it was already.
    const mine = [...made, ...unknown];
    // Where nothing needed a change, it may have been this page: a browser sends a request again by itself when a connection breaks that it had
    // used before, and hears only what the second one came to. Or it was someone else: then what was done before is still this page's last.
    const undoable = mine.length > 0 ? mine : already;
    if (bulk.isQuiet === true && isPlain(result) && made.length + already.length <= 1) return;
    const kind = failure === undefined ? "done" : "problem";
    const text = resultText(result, bulk);
    // Who has to sign in again may take a while: what went wrong is still there then.
    if (signedOut.aborted || (undoable.length === 0 && failure !== undefined)) notices.add({ kind, text });
    else if (undoable.length === 0) notices.add({ kind, text, lastsMs: PROBLEM_MS });
    else this.#offer({ kind, text, changes: undoable, label: "Undo" }, mine.length > 0 ? replaces : []);
  }

  #offer(undoable: Undo, replaces: readonly Offer[] = []): void {
    this.#offers.add({ undo: undoable, run: () => void (this.#undoing = this.#undo(undoable, this.#undoing)) }, replaces);
  }

  async #undo({ changes, isEdit }: Undo, before: Promise<void>): Promise<void> {
    const { signedOut, notices } = this.#options;
    // What is left of the undo of an edit still comes before those of earlier edits.
    const again = { label: "Go on undoing", ...(isEdit ? { isEdit } : {}) } as const;
    async function* inTurn(): AsyncGenerator<PlantChange> {
      await before;
      yield* changes.map(({ from, to }) => ({ from: to, to: from }));
    }
    const bulk = { changes: inTurn(), total: changes.length, doing: "Undoing", phrases: undoPhrases };
    const result = await this.#sendKept(bulk, { changes, ...again });
    const { conflicts, failure, isStopped } = result;
    // Both count as restored: what is undone may never have been made.
    const made = [...result.made, ...result.already];
    const text = resultText({ ...result, made, already: [] }, bulk);
    if (signedOut.aborted) return void notices.add({ kind: failure === undefined ? "done" : "problem", text });
    if (failure === undefined && !isStopped) return void notices.add({ kind: "done", text, lastsMs: PROBLEM_MS });
    const over = new Set([...made, ...conflicts.map(({ change }) => change)].map(idOf));
    const rest = changes.filter((change) => !over.has(idOf(change)));
    this.#offer({ kind: "problem", text, changes: rest, ...again });
  }
}

/** Whether nothing went otherwise than it was wanted. */
function isPlain({ conflicts, unknown, failure }: BulkResult): boolean {
  return failure === undefined && unknown.length === 0 && conflicts.length === 0;
}

function undoPhrases(plants: string): Phrases {
  return { doing: `Restoring ${plants}`, done: `Restored ${plants}` };
}

/** Whether a failure says that the last changes were not made: they were refused as a whole, and not sent before that. */
function isUnmade(thrown: unknown, tries: number): boolean {
  return tries === 0 || (tries === 1 && thrown instanceof ServiceError && thrown.status < 500);
}

function idOf(change: PlantChange): bigint {
  return plantOf(change).id;
}

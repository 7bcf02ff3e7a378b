import type { Plant } from "../../src/client/client.ts";
import { holdPage } from "../leaving.ts";
import { DONE_MS, Notices, PROBLEM_MS, quote } from "../notices.ts";
import { count } from "./bulk-text.ts";
import type { Phrases } from "./bulk-text.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import type { Listing } from "./listing.ts";
import type { NotedChange } from "./noted-change.ts";

type DeletionOptions = Readonly<{ bulkChanges: BulkChanges; listing: Listing; notices: Notices }>;

/** How long a deletion can be undone before it is made, and how often that is told. */
const UNDO_MS = 8_000;
const TICK_MS = 1_000;

/** All that waits: one message, one button, one clock, which begins again with each further deletion. */
type Waiting = Readonly<{ notice: number; clock: ReturnType<typeof setInterval>; release: () => void }>;

/**
 * A deletion is sent only some seconds later. To delete at once and create again would lose: a tab that is closed or a connection that breaks in
 * between leaves nothing to undo with, and someone else may take the id meanwhile. So the worst that can happen is that a plant stays.
 */
export class Deletions {
  readonly #options: DeletionOptions;
  readonly #plants = new Map<bigint, Plant>();
  /** Deletions on their way, by plant. */
  readonly #sent = new Map<bigint, Promise<void>>();
  /** What could be undone when the last of them was asked for. */
  #replaces: ReturnType<BulkChanges["offers"]> = [];
  #waiting: Waiting | undefined;

  constructor(options: DeletionOptions) {
    this.#options = options;
    // Back brings the page back as it was left, maybe hours ago: its user had no time to undo what waits.
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted && this.#waiting) this.#start();
    });
  }

  /** Hides the plants at once, and deletes them when some seconds are over and no one has undone it. */
  remove(plants: readonly Plant[]): void {
    for (const plant of plants) this.#plants.set(plant.id, plant);
    this.#replaces = this.#options.bulkChanges.offers();
    this.#options.listing.hide(plants.map(({ id }) => id));
    this.#start();
  }

  /**
   * Deletes now what is still waiting: the plant with this id, or all. Resolves when it is over, also what was on its way already: what comes
   * under an id after its deletion must not be taken for what was there before.
   */
  flush(id?: bigint): Promise<void> {
    return this.#carryOut(id === undefined ? [...this.#plants.keys(), ...this.#sent.keys()] : [id]);
  }

  /** Takes over what was changed here: what waits is deleted as it is then. */
  note(changes: readonly NotedChange[]): void {
    for (const { after } of changes) if (after && this.#plants.has(after.id)) this.#plants.set(after.id, after);
  }

  /** Deletes nothing of what is still waiting, and says so: no one is signed in any more. */
  abandon(): void {
    if (this.#plants.size === 0) return;
    const text = `${notDeleted(this.#plants)}, because you signed out before.`;
    this.#options.notices.add({ kind: "problem", text, lastsMs: PROBLEM_MS });
    this.#undo();
  }

  #start(): void {
    const { notices } = this.#options;
    this.#stop();
    // Not counted by the clock: a tab in the background has a slow one.
    const until = performance.now() + UNDO_MS;
    const text = describe(this.#plants, UNDO_MS);
    const action = { label: "Undo", run: () => this.#keep(), isFocused: true };
    const notice = notices.add({ kind: "done", text, seen: text, action });
    const clock = setInterval(() => {
      const leftMs = until - performance.now();
      if (leftMs <= 0) void this.#carryOut([...this.#plants.keys()]);
      else notices.update(notice, { seen: describe(this.#plants, leftMs) });
    }, TICK_MS);
    this.#waiting = { notice, clock, release: holdPage() };
  }

  #stop(): void {
    if (!this.#waiting) return;
    clearInterval(this.#waiting.clock);
    this.#options.notices.close(this.#waiting.notice);
    this.#waiting.release();
    this.#waiting = undefined;
  }

  #keep(): void {
    // Who does not see the rows come back hears it.
    this.#options.notices.add({ kind: "done", text: `${notDeleted(this.#plants)}.`, lastsMs: DONE_MS });
    this.#undo();
  }

  #undo(): void {
    const ids = [...this.#plants.keys()];
    this.#plants.clear();
    this.#stop();
    this.#options.listing.unhide(ids);
  }

  async #carryOut(ids: readonly bigint[]): Promise<void> {
    const now = ids.flatMap((id) => this.#plants.get(id) ?? []);
    for (const id of ids) this.#plants.delete(id);
    if (this.#plants.size === 0) this.#stop();
    if (now.length > 0) {
      const done = this.#send(now);
      for (const { id } of now) this.#sent.set(id, done);
    }
    await Promise.all(ids.flatMap((id) => this.#sent.get(id) ?? []));
  }

  async #send(now: readonly Plant[]): Promise<void> {
    const { bulkChanges, listing } = this.#options;
    const changes = now.map((from) => ({ from, to: undefined }));
    const replaces = this.#replaces;
    await bulkChanges.run({ changes, total: now.length, doing: "Deleting", phrases: deletionPhrases, isQuiet: true, replaces });
    const ids = now.map(({ id }) => id);
    for (const id of ids) this.#sent.delete(id);
    listing.unhide(ids);
  }
}

function describe(plants: ReadonlyMap<bigint, Plant>, leftMs: number): string {
  const seconds = Math.ceil(leftMs / 1000);
  return `${whatOf(plants)} will be deleted in ${seconds === 1 ? "1 second" : `${seconds} seconds`}.`;
}

function notDeleted(plants: ReadonlyMap<bigint, Plant>): string {
  return `${whatOf(plants)} ${plants.size === 1 ? "is" : "are"} not deleted`;
}

function whatOf(plants: ReadonlyMap<bigint, Plant>): string {
  const [only] = plants.values();
  return only && plants.size === 1 ? quote(only.name) : count(plants.size);
}

function deletionPhrases(plants: string): Phrases {
  return { doing: `Deleting ${plants}`, done: `Deleted ${plants}` };
}

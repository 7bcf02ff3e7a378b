import type { Plant } from "../../src/client/client.ts";
import { holdPage } from "../leaving.ts";
import { DONE_MS, PROBLEM_MS, quote } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { count } from "./bulk-text.ts";
import type { Phrases } from "./bulk-text.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import type { Listing, NotedChange } from "./listing.ts";

export type Deletions = Readonly<{
  /** Hides the plants at once, and deletes them when some seconds are over and nobody has undone it. */
  remove: (plants: readonly Plant[]) => void;
  /**
   * Deletes now what is still waiting: the plant with this id, or all. Resolves when it is over, also what was on its way already: what comes
   * under an id after its deletion must not be taken for what was there before.
   */
  flush: (id?: bigint) => Promise<void>;
  /** Takes over what was changed here: what waits is deleted as it is then. */
  note: (changes: readonly NotedChange[]) => void;
  /** Deletes nothing of what is still waiting, and says so: nobody is signed in any more. */
  abandon: () => void;
}>;

type DeletionOptions = Readonly<{ bulkChanges: BulkChanges; listing: Listing; notices: Notices }>;

/** How long a deletion can be undone before it is made, and how often that is told. */
const UNDO_MS = 8_000;
const TICK_MS = 1_000;

/** All that waits: one message, one button, one clock, which begins again with each further deletion. */
type Waiting = Readonly<{ notice: number; clock: ReturnType<typeof setInterval>; release: () => void }>;

/**
 * A deletion is sent only some seconds later. To delete at once and create again would lose: a tab that is closed or a connection that breaks in
 * between leaves nothing to undo with, and somebody else may take the id meanwhile. So the worst that can happen is that a plant stays.
 */
export function createDeletions({ bulkChanges, listing, notices }: DeletionOptions): Deletions {
  const plants = new Map<bigint, Plant>();
  /** Deletions on their way, by plant. */
  const sent = new Map<bigint, Promise<void>>();
  /** What could be undone when the last of them was asked for. */
  let replaces: ReturnType<BulkChanges["offers"]> = [];
  let waiting: Waiting | undefined;

  /** Stops the clock, and takes the message away. */
  function stop(): void {
    if (!waiting) return;
    clearInterval(waiting.clock);
    notices.close(waiting.notice);
    waiting.release();
    waiting = undefined;
  }

  function start(): void {
    stop();
    // Not counted by the clock: a tab in the background has a slow one.
    const until = performance.now() + UNDO_MS;
    const text = describe(plants, UNDO_MS);
    const notice = notices.add({ kind: "done", text, seen: text, action: { label: "Undo", run: keep, isFocused: true } });
    const clock = setInterval(() => {
      const leftMs = until - performance.now();
      if (leftMs <= 0) void carryOut([...plants.keys()]);
      else notices.update(notice, { seen: describe(plants, leftMs) });
    }, TICK_MS);
    waiting = { notice, clock, release: holdPage() };
  }

  function keep(): void {
    // Who does not see the rows come back hears it.
    notices.add({ kind: "done", text: `${notDeleted(plants)}.`, lastsMs: DONE_MS });
    undo();
  }

  function undo(): void {
    const ids = [...plants.keys()];
    plants.clear();
    stop();
    listing.unhide(ids);
  }

  async function carryOut(ids: readonly bigint[]): Promise<void> {
    const now = ids.flatMap((id) => plants.get(id) ?? []);
    for (const id of ids) plants.delete(id);
    if (plants.size === 0) stop();
    if (now.length > 0) {
      const done = send(now);
      for (const { id } of now) sent.set(id, done);
    }
    await Promise.all(ids.flatMap((id) => sent.get(id) ?? []));
  }

  async function send(now: readonly Plant[]): Promise<void> {
    const changes = now.map((from) => ({ from, to: undefined }));
    await bulkChanges.run({ changes, total: now.length, doing: "Deleting", phrases: deletionPhrases, isQuiet: true, replaces });
    const ids = now.map(({ id }) => id);
    for (const id of ids) sent.delete(id);
    listing.unhide(ids);
  }

  // Back brings the page back as it was left, maybe hours ago: its user had no time to undo what waits.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && waiting) start();
  });
  return {
    remove(more) {
      for (const plant of more) plants.set(plant.id, plant);
      replaces = bulkChanges.offers();
      listing.hide(more.map(({ id }) => id));
      start();
    },
    abandon() {
      if (plants.size === 0) return;
      const text = `${notDeleted(plants)}, because you signed out before.`;
      notices.add({ kind: "problem", text, lastsMs: PROBLEM_MS });
      undo();
    },
    note(changes) {
      for (const { after } of changes) if (after && plants.has(after.id)) plants.set(after.id, after);
    },
    flush: (id) => carryOut(id === undefined ? [...plants.keys(), ...sent.keys()] : [id]),
  };
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

import { isSame } from "../../src/domain/plant.ts";
import type { Notices } from "../notices.ts";
import { plantOf } from "./bulk-text.ts";
import type { KeptUndo, Undo } from "./kept-undo.ts";

/** What can be undone, and the message that offers it; undefined while another one is in its place. */
export type Offer = Readonly<{ undo: Undo; run: () => void; notice?: number }>;

/** More edits cannot be undone: what they replaced has to be kept. */
const EDITS_MAX = 20;

/** All that can be undone: of changes of many plants the last, of single plants one edit after the other. */
export class Offers {
  readonly #notices: Notices;
  readonly #keptUndo: KeptUndo;
  #offers: readonly Offer[] = [];
  /** The page may be left before it hears what became of these. */
  #underWay: readonly Undo[] = [];

  constructor({ notices, keptUndo }: Readonly<{ notices: Notices; keptUndo: KeptUndo }>) {
    this.#notices = notices;
    this.#keptUndo = keptUndo;
  }

  /** Those of changes of many plants. */
  ofMany(): readonly Offer[] {
    return this.#offers.filter(({ undo }) => undo.isEdit !== true);
  }

  /** Offers it, in the place of others; `run` undoes its changes. */
  add(offer: Omit<Offer, "notice">, replaces: readonly Offer[] = []): void {
    const { isEdit, changes } = offer.undo;
    const edits = isEdit ? this.#edits() : [];
    // The same edit, sent again because its first response was lost.
    const before = edits.findLast(({ undo }) => plantOf(undo.changes[0]!).id === plantOf(changes[0]!).id);
    const again = before && isSame(before.undo.changes[0]!.from, changes[0]!.from) ? [before] : [];
    const over = [...replaces, ...again, ...edits.slice(0, -EDITS_MAX + 1)];
    this.#set([...this.#offers.filter((one) => !over.includes(one)), offer]);
  }

  /** Takes away the edits of these plants, which something else has changed since. */
  forgetEditsOf(ids: ReadonlySet<bigint>): void {
    this.#forget(this.#edits().filter(({ undo }) => undo.changes.some((change) => ids.has(plantOf(change).id))));
  }

  /** Keeps for a reload what is on its way, until the function that it returns is called. */
  begin(undo: Undo): () => void {
    this.#underWay = [...this.#underWay, undo];
    this.keep();
    return () => void (this.#underWay = this.#underWay.filter((one) => one !== undo));
  }

  /** Writes to the tab what is offered and on its way. */
  keep(): void {
    this.#keptUndo.keep([...this.#offers.map((one) => one.undo), ...this.#underWay]);
  }

  #edits(): readonly Offer[] {
    return this.#offers.filter(({ undo }) => undo.isEdit);
  }

  #forget(over: readonly Offer[]): void {
    this.#set(this.#offers.filter((one) => !over.includes(one)));
  }

  /** Shows a message for each, but of edits for the last alone: the one before it gets its own again when that was undone. */
  #set(next: readonly Offer[]): void {
    for (const { notice } of this.#offers.filter((one) => !next.includes(one))) if (notice !== undefined) this.#notices.close(notice);
    this.#offers = next;
    const last = this.#edits().at(-1);
    this.#offers = next.map((one) => {
      const { notice, ...hidden } = one;
      const isShown = one.undo.isEdit !== true || one === last;
      if (isShown) return notice === undefined ? this.#show(one) : one;
      if (notice !== undefined) this.#notices.close(notice);
      return hidden;
    });
    this.keep();
  }

  #show({ undo, run }: Offer): Offer {
    const { kind, text, label } = undo;
    const self = () => this.#offers.filter((one) => one.notice === notice);
    const action = {
      label,
      run: () => {
        this.#forget(self());
        run();
      },
    };
    // Who closes the message of an edit is through with those before it too.
    const onClose = () => this.#forget(undo.isEdit === true ? this.#edits() : self());
    const notice = this.#notices.add({ kind, text, isClosable: true, onClose, action });
    return { undo, run, notice };
  }
}

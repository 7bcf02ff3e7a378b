import { isSame } from "../../src/domain/plant.ts";
import type { Notices } from "../notices.ts";
import { plantOf } from "./bulk-text.ts";
import type { KeptUndo, Undo } from "./kept-undo.ts";

/** What can be undone, and the message that offers it; undefined while another one is in its place. */
export type Offer = Readonly<{ undo: Undo; run: () => void; notice?: number }>;

/** All that can be undone: of changes of many plants the last, of single plants one edit after the other. */
export type Offers = Readonly<{
  /** Those of changes of many plants. */
  ofMany: () => readonly Offer[];
  /** Offers it, in the place of others; `run` undoes its changes. */
  add: (offer: Omit<Offer, "notice">, replaces?: readonly Offer[]) => void;
  /** Takes away the edits of these plants, which something else has changed since. */
  forgetEditsOf: (ids: ReadonlySet<bigint>) => void;
  /** Keeps for a reload what is on its way, until the function that it returns is called. */
  begin: (undo: Undo) => () => void;
  /** Writes to the tab what is offered and on its way. */
  keep: () => void;
}>;

/** More edits cannot be undone: what they replaced has to be kept. */
const EDITS_MAX = 20;

export function createOffers({ notices, keptUndo }: Readonly<{ notices: Notices; keptUndo: KeptUndo }>): Offers {
  let offers: readonly Offer[] = [];
  /** The page may be left before it hears what became of these. */
  let underWay: readonly Undo[] = [];

  const edits = () => offers.filter(({ undo }) => undo.isEdit);

  function keep(): void {
    keptUndo.keep([...offers.map((one) => one.undo), ...underWay]);
  }

  /** Shows a message for each, but of edits for the last alone: the one before it gets its own again when that was undone. */
  function set(next: readonly Offer[]): void {
    for (const gone of offers.filter((one) => one.notice !== undefined && !next.includes(one))) notices.close(gone.notice!);
    offers = next;
    const last = edits().at(-1);
    offers = next.map((one) => {
      const isShown = one.undo.isEdit !== true || one === last;
      if (isShown) return one.notice === undefined ? show(one) : one;
      if (one.notice !== undefined) notices.close(one.notice);
      const { notice: _, ...hidden } = one;
      return hidden;
    });
    keep();
  }

  function show({ undo, run }: Offer): Offer {
    const { kind, text, label } = undo;
    const self = () => offers.filter((one) => one.notice === notice);
    const action = {
      label,
      run() {
        forget(self());
        run();
      },
    };
    // Who closes the message of an edit is through with those before it too.
    const onClose = () => forget(undo.isEdit === true ? edits() : self());
    const notice = notices.add({ kind, text, isClosable: true, onClose, action });
    return { undo, run, notice };
  }

  function forget(over: readonly Offer[]): void {
    set(offers.filter((one) => !over.includes(one)));
  }

  return {
    ofMany: () => offers.filter(({ undo }) => undo.isEdit !== true),
    add(offer, replaces = []) {
      const { isEdit, changes } = offer.undo;
      // The same edit, sent again because its first response was lost.
      const before = isEdit ? edits().findLast(({ undo }) => plantOf(undo.changes[0]!).id === plantOf(changes[0]!).id) : undefined;
      const again = before && isSame(before.undo.changes[0]!.from, changes[0]!.from) ? [before] : [];
      const oldest = isEdit ? edits().slice(0, -EDITS_MAX + 1) : [];
      const over = [...replaces, ...again, ...oldest];
      set([...offers.filter((one) => !over.includes(one)), offer]);
    },
    forgetEditsOf(ids) {
      forget(edits().filter(({ undo }) => undo.changes.some((change) => ids.has(plantOf(change).id))));
    },
    begin(undo) {
      underWay = [...underWay, undo];
      keep();
      return () => void (underWay = underWay.filter((one) => one !== undo));
    },
    keep,
  };
}

import { useEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../../src/client/client.ts";
import type { Plant, PlantChange, StoredPlant } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { retryText } from "../failure-text.ts";
import { isSame } from "../../src/domain/plant.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { failedText, quote } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { useShown } from "../ui/shown.ts";
import { nameProblem, toDraft, toPlant } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { savePlant } from "./save-plant.ts";

type EditingOptions = Readonly<{ id: bigint; catalogue: Catalogue; notices: Notices; onClose: () => void }>;

/** "seen": the plant as it was when the dialog opened, the only one that a change may replace. */
type Step =
  | Readonly<{ kind: "loading" }>
  | Readonly<{ kind: "absent"; wasShown: boolean }>
  | Readonly<{ kind: "editing"; seen: StoredPlant }>
  | Readonly<{ kind: "conflict"; mine: Plant; theirs: StoredPlant | undefined }>;

/** What is typed, and what it is to replace: somebody else may change the plant before it is saved. */
type Typed = Readonly<{ draft: Draft; name: string; tag?: string; etag: string }>;

/** How far a change of a plant is, and what leads on. */
type Editing = Readonly<{
  step: Step;
  /** What is typed, or the plant as it is. */
  draft: Draft | undefined;
  /** Whether what is typed was kept from before. */
  isBack: boolean;
  problem: string | undefined;
  isBusy: boolean;
  type(draft: Draft): void;
  /** Reads the plant, again too. */
  load(): void;
  /** Saves what is typed. After a conflict, it replaces theirs. */
  save(): void;
  /** After a conflict, keeps theirs. */
  keepTheirs(): void;
  /** Drops what is typed, and shows the plant. */
  discard(): void;
  leave(): void;
}>;

export function useEditing({ id, catalogue, notices, onClose }: EditingOptions): Editing {
  const { client, listing, bulkChanges, note } = catalogue;
  const typed = useKept<Typed | undefined>(`plant-${id}`, () => undefined);
  const [step, setStep] = useState<Step>(() =>
    typed.value === undefined ? { kind: "loading" } : { kind: "editing", seen: toSeen(id, typed.value) },
  );
  const draft = typed.value?.draft ?? (step.kind === "editing" ? toDraft(step.seen.plant) : undefined);
  useHold(typed.value !== undefined);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isShown = useShown();
  /** What was sent without a response: it may have been made. */
  const unheard = useRef<(PlantChange & Readonly<{ to: Plant }>) | undefined>(undefined);

  async function attempt(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    // The same words are read out again only where they were gone.
    setProblem(undefined);
    await Promise.resolve();
    try {
      await work();
    } catch (thrown) {
      if (thrown instanceof ServiceError && thrown.status < 500) unheard.current = undefined;
      fail(retryText(thrown));
    } finally {
      setBusy(false);
    }
  }

  function fail(text: string): void {
    setProblem(text);
    if (!isShown() && draft !== undefined && typed.value !== undefined)
      notices.add({ kind: "problem", text: failedText(draft.name, text) });
  }

  /** Takes over into the list what became of the plant. Returns whether it was there. */
  function meet(now: Plant | undefined): boolean {
    const shown = listing.state.get().plants.find((plant) => plant.id === id);
    if (shown && !isSame(shown, now)) note(shown, now);
    return shown !== undefined;
  }

  async function read(): Promise<void> {
    const seen = await client.find(id);
    const wasShown = meet(seen?.plant);
    if (seen) return setStep({ kind: "editing", seen });
    setStep({ kind: "absent", wasShown });
  }

  function load(): void {
    void attempt(read);
  }
  useEffect(() => {
    if (step.kind === "loading") load();
  }, []);

  /** `current` is what `mine` may replace. */
  async function write(mine: Plant, current: StoredPlant | undefined): Promise<void> {
    const change = { from: current?.plant, to: mine };
    unheard.current = change;
    const saved = await savePlant(client, mine, current);
    unheard.current = undefined;
    if (saved.kind === "conflict") {
      meet(saved.theirs?.plant);
      return isShown() ? setStep({ kind: "conflict", mine, theirs: saved.theirs }) : fail("Someone changed it in the meantime.");
    }
    typed.forget();
    note(current?.plant, mine);
    bulkChanges.offerEdit(change, { kind: "done", text: `${quote(mine.name)} is saved.` });
    if (isShown()) onClose();
  }

  /** Those who give up what was sent without a response can undo it: it may have been saved. */
  function offerUndo(): void {
    const change = unheard.current;
    if (!isBusy && change) bulkChanges.offerEdit(change, { kind: "problem", text: `Saving ${quote(change.to.name)} may have failed.` });
  }

  async function saveTyped(mine: Plant, seen: StoredPlant): Promise<void> {
    const wrong = nameProblem(mine, seen.plant);
    if (wrong === undefined) await write(mine, seen);
    else setProblem(wrong);
  }

  return {
    step,
    draft,
    isBack: typed.isBack && typed.value !== undefined,
    problem,
    isBusy,
    type(next) {
      if (step.kind === "editing") typed.set(toTyped(next, step.seen));
    },
    load,
    save() {
      if (step.kind === "conflict") void attempt(() => write(step.mine, step.theirs));
      else if (step.kind === "editing" && draft) void attempt(() => saveTyped(toPlant(id, draft, step.seen.plant), step.seen));
    },
    keepTheirs() {
      if (step.kind !== "conflict") return;
      typed.forget();
      offerUndo();
      onClose();
    },
    discard() {
      typed.set(undefined);
      typed.forget();
      // Nobody should go on with what it was.
      setStep({ kind: "loading" });
      load();
    },
    leave() {
      // What is on its way may not be saved.
      if (!isBusy) typed.forget();
      offerUndo();
      onClose();
    },
  };
}

function toTyped(draft: Draft, { plant: { name, tag }, etag }: StoredPlant): Typed {
  return { draft, name, etag, ...(tag === undefined ? {} : { tag }) };
}

function toSeen(id: bigint, { name, tag, etag }: Typed): StoredPlant {
  return { plant: tag === undefined ? { id, name } : { id, name, tag }, etag };
}

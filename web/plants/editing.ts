import { useEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../../src/client/page-client.ts";
import type { Plant, StoredPlant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { retryText } from "../failure-text.ts";
import { useKept } from "../kept.ts";
import { useHold, useShown } from "../leaving.ts";
import { failedText, quote } from "../notices.ts";
import { useAttempt } from "../ui/form.tsx";
import { nameProblem, toDraft, toPlant } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { savePlant } from "./save-plant.ts";

/** "seen": the plant as it was when the dialog opened, the only one that a change may replace. */
export type Step =
  | Readonly<{ kind: "loading" }>
  | Readonly<{ kind: "absent"; wasShown: boolean }>
  /** `theirs`: what someone else has made of it since, null if it is gone; "seen" if that is what is shown. */
  | Readonly<{ kind: "editing"; seen: StoredPlant; theirs?: Plant | null | "seen" }>
  | Readonly<{ kind: "conflict"; mine: Plant; theirs: StoredPlant | undefined }>;

/** What is typed, and what it is to replace: someone else may change the plant before it is saved. */
type Typed = Readonly<{ draft: Draft; name: string; tag?: string; etag: string }>;

/** How far a change of a plant is, and what leads on. */
export function useEditing(id: bigint, catalogue: Catalogue) {
  const { notices, opening } = catalogue.context;
  const typed = useKept<Typed | undefined>(`plant-${id}`, () => undefined);
  const isTyped = typed.value !== undefined;
  useHold(isTyped);
  const [step, setStep] = useState<Step>(() => (typed.value ? { kind: "editing", seen: toSeen(id, typed.value) } : { kind: "loading" }));
  /** What is typed, or the plant as it is. */
  const draft = typed.value?.draft ?? (step.kind === "editing" ? toDraft(step.seen.plant) : undefined);

  const isShown = useShown();
  function failed(text: string): string {
    if (!isShown() && draft !== undefined && isTyped) notices.add({ kind: "problem", text: failedText(draft.name, text) });
    return text;
  }
  const saving = useSaving(catalogue, { failed, forget: typed.forget });
  const { isBusy, attempt, setProblem } = saving;

  /** `current` is what `mine` may replace. */
  async function write(mine: Plant, current: StoredPlant | undefined): Promise<void> {
    const saved = await saving.save(mine, current);
    if (saved.kind === "conflict" && isShown()) return setStep({ kind: "conflict", mine, theirs: saved.theirs });
    if (saved.kind === "conflict") return setProblem(failed("Someone changed it in the meantime."));
    if (isShown()) opening.close();
  }

  /** Reads the plant, again too. */
  function load(): void {
    void attempt(async () => {
      const seen = await catalogue.client.find(id);
      const wasShown = meet(catalogue, id, seen?.plant);
      setStep(seen ? { kind: "editing", seen } : { kind: "absent", wasShown });
    });
  }
  useEffect(() => {
    if (step.kind === "loading") load();
  }, []);
  useNews(id, catalogue, isTyped, setStep);

  function save(): void {
    if (step.kind === "conflict") void attempt(() => write(step.mine, step.theirs));
    if (step.kind !== "editing" || !draft) return;
    const mine = toPlant(id, draft, step.seen.plant);
    void attempt(async () => {
      const wrong = nameProblem(mine, step.seen.plant);
      if (wrong === undefined) await write(mine, step.seen);
      else setProblem(wrong);
    });
  }

  /** After a conflict, this keeps theirs. */
  function leave(): void {
    // What is on its way may not be saved.
    if (!isBusy || step.kind === "conflict") typed.forget();
    saving.offerUndo();
    opening.close();
  }

  /** Drops what is typed, and shows the plant: no one should go on with what it was. */
  function discard(): void {
    typed.reset(undefined);
    setStep({ kind: "loading" });
    load();
  }

  function type(next: Draft): void {
    if (step.kind === "editing") typed.set(toTyped(next, step.seen));
  }

  return { step, draft, isBack: typed.isBack && isTyped, problem: saving.problem, isBusy, load, type, save, leave, discard };
}

/** Looks at the plant again when it has changed. What is typed stays, and replaces nothing that no one has seen. */
function useNews(id: bigint, { heard, client }: Catalogue, isTyped: boolean, setStep: StateUpdater): void {
  const isTypedNow = useRef(isTyped);
  isTypedNow.current = isTyped;
  useEffect(() => {
    const look = () => client.find(id).then((now) => setStep((step) => withNews(step, now, isTypedNow.current)));
    // Without an answer, saving it still meets what it is.
    return heard.watch(() => void (heard.get().has(id) && look().catch(() => undefined)));
  }, []);
}

type StateUpdater = (change: (step: Step) => Step) => void;

function withNews(step: Step, now: StoredPlant | undefined, isTyped: boolean): Step {
  if (step.kind === "loading") return step;
  if (step.kind === "conflict") return { ...step, theirs: now };
  const seen = step.kind === "editing" ? step.seen : undefined;
  if (isTyped && seen) return { kind: "editing", seen, ...(isSame(seen.plant, now?.plant) ? {} : { theirs: now?.plant ?? null }) };
  if (isSame(seen?.plant, now?.plant)) return step;
  return now ? { kind: "editing", seen: now, theirs: "seen" } : { kind: "absent", wasShown: true };
}

type SavingOptions = Readonly<{ /** Hears of what went wrong, and says it. */ failed: (text: string) => string; forget: () => void }>;

/** Saves a plant so that it can be undone, even where no response comes. */
function useSaving(catalogue: Catalogue, { failed, forget }: SavingOptions) {
  /** What was sent without a response: it may have been made. */
  const unheard = useRef<Readonly<{ from: Plant | undefined; to: Plant }>>(undefined);
  const attempting = useAttempt((thrown) => {
    if (thrown instanceof ServiceError && thrown.status < 500) unheard.current = undefined;
    return failed(retryText(thrown));
  });
  return {
    ...attempting,
    async save(mine: Plant, current: StoredPlant | undefined) {
      const change = { from: current?.plant, to: mine };
      unheard.current = change;
      const saved = await savePlant(catalogue.client, mine, current);
      unheard.current = undefined;
      if (saved.kind === "conflict") meet(catalogue, mine.id, saved.theirs?.plant);
      else {
        forget();
        catalogue.note(current?.plant, mine);
        catalogue.bulkChanges.offerEdit(change, { kind: "done", text: `${quote(mine.name)} is saved.` });
      }
      return saved;
    },
    /** Those who give up what was sent without a response can undo it: it may have been saved. */
    offerUndo() {
      const change = unheard.current;
      if (attempting.isBusy || !change) return;
      catalogue.bulkChanges.offerEdit(change, { kind: "problem", text: `Saving ${quote(change.to.name)} may have failed.` });
    },
  };
}

/** Takes over into the list what became of a plant. Returns whether it was there. */
function meet(catalogue: Catalogue, id: bigint, now: Plant | undefined): boolean {
  const shown = catalogue.listing.state.get().plants.find((plant) => plant.id === id);
  if (shown && !isSame(shown, now)) catalogue.note(shown, now);
  return shown !== undefined;
}

function toTyped(draft: Draft, { plant: { name, tag }, etag }: StoredPlant): Typed {
  return { draft, name, etag, ...(tag === undefined ? {} : { tag }) };
}

function toSeen(id: bigint, { name, tag, etag }: Typed): StoredPlant {
  return { plant: tag === undefined ? { id, name } : { id, name, tag }, etag };
}

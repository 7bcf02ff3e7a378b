import { useEffect, useState } from "preact/hooks";
import type { Plant, StoredPlant } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText } from "../failure-text.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { DONE_MS, failedText, quote, SAVED } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { BackAgain } from "../ui/back-again.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useShown } from "../ui/shown.ts";
import { EditConflict } from "./edit-conflict.tsx";
import { toDraft, toPlant } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { PlantText } from "./plant-text.tsx";
import { NameAndTag } from "./name-and-tag.tsx";
import { savePlant } from "./save-plant.ts";

type EditDialogProps = Readonly<{ id: bigint; catalogue: Catalogue; notices: Notices; onClose: () => void }>;

/** "seen": the plant as it was when the dialog opened, the only one that a change may replace. */
type Step =
  | Readonly<{ kind: "loading" }>
  | Readonly<{ kind: "absent"; wasShown: boolean }>
  | Readonly<{ kind: "editing"; seen: StoredPlant }>
  | Readonly<{ kind: "conflict"; seen: StoredPlant; mine: Plant; theirs: StoredPlant | undefined }>;

/** What is typed, and what it is to replace: somebody else may change the plant before it is saved. */
type Typed = Readonly<{ draft: Draft; name: string; tag?: string; etag: string }>;

/** A plant to be changed; to those who may not, it is only shown. */
export function EditDialog({ id, catalogue, notices, onClose }: EditDialogProps) {
  const { client, listing, tagCounts, note, access } = catalogue;
  const mayChange = access.write;
  const tags = useValue(tagCounts.state) ?? [];
  const typed = useKept<Typed | undefined>(`plant-${id}`, () => undefined);
  const [step, setStep] = useState<Step>(() =>
    typed.value === undefined ? { kind: "loading" } : { kind: "editing", seen: toSeen(id, typed.value) },
  );
  const draft = typed.value?.draft ?? (step.kind === "editing" ? toDraft(step.seen.plant) : undefined);
  useHold(typed.value !== undefined);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isShown = useShown();

  async function attempt(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (thrown) {
      fail(failureText(thrown));
    } finally {
      setBusy(false);
    }
  }

  function fail(text: string): void {
    setProblem(text);
    if (!isShown() && draft !== undefined && typed.value !== undefined)
      notices.add({ kind: "problem", text: failedText(draft.name, text) });
  }

  async function load(): Promise<void> {
    const seen = await client.find(id);
    if (!seen) {
      const shown = listing.state.get().plants.find((plant) => plant.id === id);
      if (shown) note(shown, undefined);
      return setStep({ kind: "absent", wasShown: shown !== undefined });
    }
    setStep({ kind: "editing", seen });
  }
  useEffect(() => {
    if (step.kind === "loading") void attempt(load);
  }, []);

  function discard(): void {
    typed.set(undefined);
    typed.forget();
  }

  /** `current` is what `mine` may replace. */
  async function save(mine: Plant, seen: StoredPlant, current: StoredPlant | undefined): Promise<void> {
    const saved = await savePlant(client, mine, current);
    if (saved.kind === "conflict" && !isShown()) return fail("Someone changed it in the meantime.");
    if (saved.kind === "conflict") return setStep({ kind: "conflict", seen, mine, theirs: saved.theirs });
    typed.forget();
    note(current?.plant, saved.plant);
    notices.add({ kind: "done", text: `${quote(saved.plant.name)} is saved.`, together: SAVED, lastsMs: DONE_MS });
    if (isShown()) onClose();
  }

  function leave(before: Plant, theirs: Plant | undefined): void {
    typed.forget();
    note(before, theirs);
    onClose();
  }

  return (
    <Dialog title={step.kind === "conflict" ? "Yours or theirs?" : mayChange ? "Edit plant" : "Plant"} notices={notices} onClose={onClose}>
      <p class="hint number">Id {String(id)}</p>
      {step.kind === "loading" && problem === undefined ? <p>Loading the plant…</p> : null}
      {step.kind === "absent" ? (
        <p>{step.wasShown ? "This plant no longer exists: someone deleted it." : `There is no plant with the id ${id}.`}</p>
      ) : null}
      {step.kind === "editing" && draft !== undefined && mayChange ? (
        <form
          id="edit"
          onSubmit={(event) => {
            event.preventDefault();
            void attempt(() => save(toPlant(id, draft, step.seen.plant), step.seen, step.seen));
          }}
        >
          {typed.isBack && typed.value !== undefined ? (
            <BackAgain
              onDiscard={() => {
                discard();
                void attempt(load);
              }}
            />
          ) : null}
          <NameAndTag draft={draft} onDraft={(next) => typed.set(toTyped(next, step.seen))} tags={tags} />
        </form>
      ) : null}
      {step.kind === "editing" && !mayChange ? <PlantText plant={step.seen.plant} /> : null}
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {step.kind === "conflict" ? (
        <EditConflict
          mine={step.mine}
          theirs={step.theirs?.plant}
          isBusy={isBusy}
          onMine={() => void attempt(() => save(step.mine, step.seen, step.theirs))}
          onTheirs={() => leave(step.seen.plant, step.theirs?.plant)}
        />
      ) : (
        <footer>
          <button
            class="button"
            type="button"
            onClick={() => {
              typed.forget();
              onClose();
            }}
          >
            {step.kind === "absent" || !mayChange ? "Close" : "Cancel"}
          </button>
          {step.kind === "editing" && mayChange ? (
            <button class="button primary" type="submit" form="edit" disabled={isBusy}>
              {isBusy ? "Saving…" : "Save"}
            </button>
          ) : null}
          {step.kind === "loading" && problem !== undefined ? (
            <button class="button primary" type="button" onClick={() => void attempt(load)}>
              Try again
            </button>
          ) : null}
        </footer>
      )}
    </Dialog>
  );
}

function toTyped(draft: Draft, { plant: { name, tag }, etag }: StoredPlant): Typed {
  return { draft, name, etag, ...(tag === undefined ? {} : { tag }) };
}

function toSeen(id: bigint, { name, tag, etag }: Typed): StoredPlant {
  return { plant: tag === undefined ? { id, name } : { id, name, tag }, etag };
}

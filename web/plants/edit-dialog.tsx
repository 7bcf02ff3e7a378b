import { useEffect, useState } from "preact/hooks";
import type { Plant, StoredPlant } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText } from "../failure-text.ts";
import { DONE_MS, quote } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { Dialog } from "../ui/dialog.tsx";
import { EditConflict } from "./edit-conflict.tsx";
import { EMPTY_DRAFT, toDraft, toPlant } from "./draft.ts";
import { NameAndTag } from "./name-and-tag.tsx";
import { savePlant } from "./save-plant.ts";

type EditDialogProps = Readonly<{ id: bigint; catalogue: Catalogue; notices: Notices; onClose: () => void }>;

/** "seen": the plant as it was when the dialog opened, the only one that a change may replace. */
type Step =
  | Readonly<{ kind: "loading" }>
  | Readonly<{ kind: "absent" }>
  | Readonly<{ kind: "editing"; seen: StoredPlant }>
  | Readonly<{ kind: "conflict"; seen: StoredPlant; mine: Plant; theirs: StoredPlant | undefined }>;

export function EditDialog({ id, catalogue, notices, onClose }: EditDialogProps) {
  const { client, listing, tagCounts, note } = catalogue;
  const tags = useValue(tagCounts.state) ?? [];
  const [step, setStep] = useState<Step>({ kind: "loading" });
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function attempt(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (thrown) {
      setProblem(failureText(thrown));
    } finally {
      setBusy(false);
    }
  }

  async function load(): Promise<void> {
    const seen = await client.find(id);
    if (!seen) {
      const shown = listing.state.get().plants.find((plant) => plant.id === id);
      if (shown) note(shown, undefined);
      return setStep({ kind: "absent" });
    }
    setDraft(toDraft(seen.plant));
    setStep({ kind: "editing", seen });
  }
  useEffect(() => void attempt(load), [id]);

  /** `current` is what `mine` may replace. */
  async function save(mine: Plant, seen: StoredPlant, current: StoredPlant | undefined): Promise<void> {
    const saved = await savePlant(client, mine, current);
    if (saved.kind === "conflict") return setStep({ kind: "conflict", seen, mine, theirs: saved.theirs });
    note(current?.plant, saved.plant);
    notices.add({ kind: "done", text: `${quote(saved.plant.name)} is saved.`, lastsMs: DONE_MS });
    onClose();
  }

  function leave(before: Plant, theirs: Plant | undefined): void {
    note(before, theirs);
    onClose();
  }

  return (
    <Dialog title={step.kind === "conflict" ? "Yours or theirs?" : "Edit plant"} notices={notices} onClose={onClose}>
      <p class="hint number">Id {String(id)}</p>
      {step.kind === "loading" && problem === undefined ? <p>Loading the plant…</p> : null}
      {step.kind === "absent" ? <p>This plant no longer exists: someone deleted it.</p> : null}
      {step.kind === "editing" ? (
        <form
          id="edit"
          onSubmit={(event) => {
            event.preventDefault();
            void attempt(() => save(toPlant(id, draft, step.seen.plant), step.seen, step.seen));
          }}
        >
          <NameAndTag draft={draft} onDraft={setDraft} tags={tags} isFirst />
        </form>
      ) : null}
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
          <button class="button" type="button" onClick={onClose}>
            {step.kind === "absent" ? "Close" : "Cancel"}
          </button>
          {step.kind === "editing" ? (
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

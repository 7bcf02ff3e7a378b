import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { BackAgain } from "../ui/back-again.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { EditConflict } from "./edit-conflict.tsx";
import { useEditing } from "./editing.ts";
import { NameAndTag } from "./name-and-tag.tsx";
import { PlantText } from "./plant-text.tsx";

type EditDialogProps = Readonly<{ id: bigint; catalogue: Catalogue; notices: Notices; onClose: () => void }>;

/** A plant to be changed; to those who may not, it is only shown. */
export function EditDialog({ id, catalogue, notices, onClose }: EditDialogProps) {
  const mayChange = catalogue.access.write;
  const tags = useValue(catalogue.tagCounts.state) ?? [];
  const editing = useEditing({ id, catalogue, notices, onClose });
  const { step, draft, problem, isBusy } = editing;
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
            editing.save();
          }}
        >
          {editing.isBack ? <BackAgain onDiscard={editing.discard} /> : null}
          <NameAndTag draft={draft} onDraft={editing.type} tags={tags} isFixed={isBusy} />
        </form>
      ) : null}
      {step.kind === "editing" && !mayChange ? <PlantText plant={step.seen.plant} /> : null}
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {step.kind === "conflict" ? (
        <EditConflict mine={step.mine} theirs={step.theirs?.plant} isBusy={isBusy} onMine={editing.save} onTheirs={editing.keepTheirs} />
      ) : (
        <footer>
          <button class="button" type="button" onClick={editing.leave}>
            {step.kind === "absent" || !mayChange ? "Close" : "Cancel"}
          </button>
          {step.kind === "editing" && mayChange ? (
            <button class="button primary" type="submit" form="edit" disabled={isBusy}>
              {isBusy ? "Saving…" : "Save"}
            </button>
          ) : null}
          {step.kind === "loading" && problem !== undefined ? (
            <button class="button primary" type="button" onClick={editing.load}>
              Try again
            </button>
          ) : null}
        </footer>
      )}
    </Dialog>
  );
}

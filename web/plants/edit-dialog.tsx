import type { Plant } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { useValue } from "../state.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { BackAgain, Form, Problem } from "../ui/form.tsx";
import { useEditing } from "./editing.ts";
import type { Step } from "./editing.ts";
import { NameAndTag } from "./plant-fields.tsx";
import { PlantText } from "./plant-text.tsx";

type EditDialogProps = Readonly<{ id: bigint; catalogue: Catalogue }>;

/** A plant to be changed; to those who may not, it is only shown. */
export function EditDialog({ id, catalogue }: EditDialogProps) {
  const { notices, opening } = catalogue.context;
  const mayChange = catalogue.access.write;
  const tags = useValue(catalogue.tagCounts.state) ?? [];
  const editing = useEditing(id, catalogue);
  const { step, draft, problem, isBusy } = editing;
  const isEditing = step.kind === "editing" && mayChange;
  return (
    <Dialog
      title={step.kind === "conflict" ? "Yours or theirs?" : mayChange ? "Edit plant" : "Plant"}
      notices={notices}
      onClose={() => opening.close()}
    >
      <p class="hint number">Id {String(id)}</p>
      {step.kind === "loading" && problem === undefined ? <p>Loading the plant…</p> : null}
      {step.kind === "absent" ? (
        <p>{step.wasShown ? "This plant no longer exists: someone deleted it." : `There is no plant with the id ${id}.`}</p>
      ) : null}
      {isEditing && draft ? (
        <Form id="edit" onSubmit={editing.save}>
          {editing.isBack ? <BackAgain onDiscard={editing.discard} /> : null}
          <NameAndTag draft={draft} onDraft={editing.type} tags={tags} isFixed={isBusy} />
        </Form>
      ) : null}
      {step.kind === "editing" && !mayChange ? <PlantText plant={step.seen.plant} /> : null}
      <News step={step} />
      <Problem text={problem} />
      {step.kind === "conflict" ? (
        <Conflict mine={step.mine} theirs={step.theirs?.plant} isBusy={isBusy} onMine={editing.save} onTheirs={editing.leave} />
      ) : (
        <footer>
          {/* What is typed is kept meanwhile. */}
          {step.kind === "loading" ? null : <Button label="History" class="quiet" onClick={() => opening.open({ kind: "history", id })} />}
          <Button label={step.kind === "absent" || !mayChange ? "Close" : "Cancel"} onClick={editing.leave} />
          {isEditing ? <Button label={isBusy ? "Saving…" : "Save"} class="primary" type="submit" form="edit" disabled={isBusy} /> : null}
          {step.kind === "loading" && problem !== undefined ? <Button label="Try again" class="primary" onClick={editing.load} /> : null}
        </footer>
      )}
    </Dialog>
  );
}

/** What became of the plant while it is open. */
function News({ step }: Readonly<{ step: Step }>) {
  const theirs = step.kind === "editing" ? step.theirs : undefined;
  return (
    <div class="plants-news" role="status">
      {theirs === undefined ? null : theirs === "seen" ? (
        <p>This plant was changed just now: you see what it is.</p>
      ) : (
        <>
          <p>
            This plant was {theirs ? "changed" : "deleted"} just now. What you typed is kept.{theirs ? " Stored is now:" : ""}
          </p>
          {theirs && step.kind === "editing" ? <PlantText plant={theirs} other={step.seen.plant} /> : null}
        </>
      )}
    </div>
  );
}

type ConflictProps = Readonly<{
  mine: Plant;
  /** Undefined when someone deleted it. */
  theirs: Plant | undefined;
  isBusy: boolean;
  onMine: () => void;
  onTheirs: () => void;
}>;

function Conflict({ mine, theirs, isBusy, onMine, onTheirs }: ConflictProps) {
  const isGone = theirs === undefined;
  return (
    <div class="plants-conflict">
      <Problem text={`Someone ${isGone ? "deleted" : "changed"} this plant in the meantime. Your change is not saved yet.`} />
      <div class="plants-sides">
        <section aria-label="Yours">
          <h3>Yours</h3>
          <PlantText plant={mine} other={theirs} />
        </section>
        <section aria-label="Theirs">
          <h3>Theirs</h3>
          {isGone ? <p class="none">Deleted</p> : <PlantText plant={theirs} other={mine} />}
        </section>
      </div>
      <footer>
        <Button label={isGone ? "Leave it deleted" : "Keep theirs"} onClick={onTheirs} />
        <Button label={isGone ? "Save yours as new" : "Replace with yours"} class="primary" onClick={onMine} disabled={isBusy} />
      </footer>
    </div>
  );
}

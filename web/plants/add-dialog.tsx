import { useState } from "preact/hooks";
import { ERROR_NUMBERS, ServiceError } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText } from "../failure-text.ts";
import { DONE_MS, quote } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { EMPTY_DRAFT, ID_RULE, parseId, suggestId, toPlant } from "./draft.ts";
import { NameAndTag } from "./name-and-tag.tsx";
import { takeFocus } from "../ui/focus.ts";

type AddDialogProps = Readonly<{ catalogue: Catalogue; notices: Notices; onClose: () => void; onEdit: ((id: bigint) => void) | undefined }>;

type Problem = Readonly<{ text: string; /** The plant that has the id already. */ taken?: bigint }>;

export function AddDialog({ catalogue, notices, onClose, onEdit }: AddDialogProps) {
  const { client, tagCounts, deletions, note } = catalogue;
  const tags = useValue(tagCounts.state) ?? [];
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);

  async function add(): Promise<void> {
    const id = parseId(draft.id);
    if (id === undefined) return setProblem({ text: ID_RULE });
    if (draft.name.trim() === "") return setProblem({ text: "The plant needs a name: type one." });
    setBusy(true);
    try {
      await deletions.flush(id);
      const { plant } = await client.create(toPlant(id, draft));
      note(undefined, plant);
      notices.add({ kind: "done", text: `${quote(plant.name)} is saved.`, lastsMs: DONE_MS });
      onClose();
    } catch (thrown) {
      const isTaken = thrown instanceof ServiceError && thrown.error === ERROR_NUMBERS.id_in_use;
      setProblem({ text: failureText(thrown), ...(isTaken ? { taken: id } : {}) });
      setBusy(false);
    }
  }

  return (
    <Dialog title="Add a plant" notices={notices} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <Field label="Id" hint="A whole number of up to 19 digits. It cannot be changed later.">
          {(id, hintId) => (
            <div class="joined">
              <input
                id={id}
                aria-describedby={hintId}
                value={draft.id}
                onInput={({ currentTarget: { value } }) => setDraft({ ...draft, id: value })}
                inputMode="numeric"
                autocomplete="off"
                autofocus
                ref={takeFocus}
              />
              <button class="button" type="button" onClick={() => setDraft({ ...draft, id: String(suggestId(Date.now(), Math.random())) })}>
                Suggest one
              </button>
            </div>
          )}
        </Field>
        <NameAndTag draft={draft} onDraft={setDraft} tags={tags} isFirst={false} />
        {problem === undefined ? null : (
          <div class="problem" role="alert">
            <p>{problem.text}</p>
            {problem.taken === undefined || onEdit === undefined ? null : (
              <button class="link" type="button" onClick={() => onEdit(problem.taken!)}>
                Show the plant that has it
              </button>
            )}
          </div>
        )}
        <footer>
          <button class="button" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" type="submit" disabled={isBusy}>
            {isBusy ? "Saving…" : "Save"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

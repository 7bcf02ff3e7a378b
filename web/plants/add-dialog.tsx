import { useRef, useState } from "preact/hooks";
import { ERROR_NUMBERS, makeId, ServiceError } from "../../src/client/client.ts";
import type { Client, Plant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText, retryText } from "../failure-text.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { DONE_MS, failedText, quote } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { useValue } from "../state.ts";
import { BackAgain } from "../ui/back-again.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { useShown } from "../ui/shown.ts";
import { ID_RULE, nameProblem, parseId, toPlant } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { NameAndTag } from "./name-and-tag.tsx";
import { takeFocus } from "../ui/focus.ts";

type AddDialogProps = Readonly<{ catalogue: Catalogue; notices: Notices; onClose: () => void; onEdit: ((id: bigint) => void) | undefined }>;

/** `isOwnId`: whether the id is typed too; `sent`: all that was sent, and may be stored though no response came. */
type Typed = Readonly<{ draft: Draft; isOwnId: boolean; sent?: readonly Draft[] }>;

type Problem = Readonly<{ text: string; /** The plant that has the id already. */ taken?: bigint }>;

/** An id that was made stays the same until the plant is saved: to save it once more after a lost answer is safe. */
export function AddDialog({ catalogue, notices, onClose, onEdit }: AddDialogProps) {
  const { client, tagCounts, deletions, note, reveal } = catalogue;
  const tags = useValue(tagCounts.state) ?? [];
  const typed = useKept<Typed>("new-plant", () => newPlant(""));
  const { draft, isOwnId, sent = [] } = typed.value;
  const isTyped = draft.name !== "" || isOwnId;
  useHold(isTyped);
  const [saved, setSaved] = useState<Plant>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const isShown = useShown();
  const form = useRef<HTMLFormElement>(null);

  async function save(): Promise<Plant | undefined> {
    // The same words are read out again only where they were gone.
    setProblem(undefined);
    await Promise.resolve();
    const id = parseId(draft.id);
    const problemText = nameProblem(toPlant(id ?? 0n, draft)) ?? (id === undefined ? ID_RULE : undefined);
    if (problemText !== undefined) setProblem({ text: problemText });
    if (id === undefined || problemText !== undefined || isBusy) return undefined;
    setBusy(true);
    const mine = toPlant(id, draft);
    const others = sent.filter((one) => one.id === draft.id && !isSame(toPlant(id, one), mine));
    typed.set({ draft, isOwnId, sent: [...others, draft] });
    try {
      await deletions.flush(id);
      const before = others.map((one) => toPlant(id, one));
      const isThere = await correct(client, before, mine);
      const { plant } = isThere ? { plant: mine } : await (isOwnId ? client.create(mine) : client.add(mine, { id }));
      typed.forget();
      note(undefined, plant);
      // Who has gone on meanwhile stays where they are.
      if (isShown()) reveal(plant);
      return plant;
    } catch (thrown) {
      if (!isShown()) notices.add({ kind: "problem", text: failedText(draft.name, failureText(thrown)) });
      const isTaken = thrown instanceof ServiceError && thrown.error === ERROR_NUMBERS.id_in_use;
      setProblem({ text: retryText(thrown), ...(isTaken ? { taken: id } : {}) });
      return undefined;
    } finally {
      setBusy(false);
    }
  }

  async function saveAndClose(): Promise<void> {
    const plant = await save();
    if (!plant) return;
    notices.add({ kind: "done", text: `${quote(plant.name)} is saved.`, lastsMs: DONE_MS });
    if (isShown()) onClose();
  }

  async function saveAndGoOn(): Promise<void> {
    const plant = await save();
    if (!plant) return;
    setSaved(plant);
    // The next one is often of the same kind.
    startAgain(draft.tag);
    form.current?.querySelector("input")?.focus();
  }

  function startAgain(tag: string): void {
    typed.set(newPlant(tag));
    typed.forget();
  }

  return (
    <Dialog title="Add a plant" notices={notices} onClose={onClose}>
      <p role="status">{saved === undefined ? "" : `${quote(saved.name)} is saved with the id ${saved.id}.`}</p>
      {typed.isBack && isTyped && saved === undefined ? <BackAgain onDiscard={() => startAgain("")} /> : null}
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          void saveAndClose();
        }}
      >
        <NameAndTag draft={draft} onDraft={(next) => typed.set({ ...typed.value, draft: next })} tags={tags} isFixed={isBusy} />
        {isOwnId ? (
          <Field label="Id" hint="A whole number of up to 19 digits. It cannot be changed later.">
            {(id, hintId) => (
              <input
                id={id}
                aria-describedby={hintId}
                value={draft.id}
                onInput={({ currentTarget: { value } }) => typed.set({ ...typed.value, draft: { ...draft, id: value } })}
                readOnly={isBusy}
                inputMode="numeric"
                autocomplete="off"
                ref={takeFocus}
              />
            )}
          </Field>
        ) : (
          <p class="hint">
            Its id will be <span class="number">{draft.id}</span>.{" "}
            <button class="link" type="button" onClick={() => typed.set({ ...typed.value, isOwnId: true })}>
              Choose the id
            </button>
          </p>
        )}
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
          <button
            class="button"
            type="button"
            onClick={() => {
              // What is on its way may not be saved.
              if (!isBusy) typed.forget();
              onClose();
            }}
          >
            {saved === undefined ? "Cancel" : "Close"}
          </button>
          <button class="button" type="button" disabled={isBusy} onClick={() => void saveAndGoOn()}>
            Save and add another
          </button>
          <button class="button primary" type="submit" disabled={isBusy}>
            {isBusy ? "Saving…" : "Save"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Makes a plant that may be stored already, as one of these, into what it is now. Whether it was there. */
async function correct(client: Client, before: readonly Plant[], to: Plant): Promise<boolean> {
  for (const from of before)
    for await (const { kind } of client.change([{ from, to }])) if (kind === "changed" || kind === "same") return true;
  return false;
}

function newPlant(tag: string): Typed {
  return { draft: { id: String(makeId()), name: "", tag }, isOwnId: false };
}

import { useRef, useState } from "preact/hooks";
import { ERROR_NUMBERS, makeId, ServiceError } from "../../src/client/page-client.ts";
import type { Client, Plant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText, retryText } from "../failure-text.ts";
import { useKept } from "../kept.ts";
import type { Kept } from "../kept.ts";
import { useHold, useShown } from "../leaving.ts";
import { DONE_MS, failedText, quote } from "../notices.ts";
import { useValue } from "../state.ts";
import { BackAgain, Form, TextField, useAttempt } from "../ui/form.tsx";
import { Button, LinkButton } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { takeFocus } from "../ui/focus.ts";
import { ID_RULE, nameProblem, parseId, toPlant } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { NameAndTag } from "./plant-fields.tsx";

/** `isOwnId`: whether the id is typed too; `sent`: all that was sent, and may be stored though no response came. */
type Typed = Readonly<{ draft: Draft; isOwnId: boolean; sent?: readonly Draft[] }>;

type AddDialogProps = Readonly<{ catalogue: Catalogue; /** To begin with. */ name?: string | undefined }>;

export function AddDialog({ catalogue, name = "" }: AddDialogProps) {
  const { notices, opening } = catalogue.context;
  const onClose = () => opening.close();
  const tags = useValue(catalogue.tagCounts.state) ?? [];
  const { typed, isTyped, isBusy, problem, takenId, isShown, save } = useAdding(catalogue, name);
  const { draft } = typed.value;
  const [saved, setSaved] = useState<Plant>();
  const form = useRef<HTMLFormElement>(null);

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
    typed.reset(newPlant({ name: "", tag: draft.tag }));
    form.current?.querySelector("input")?.focus();
  }

  function leave(): void {
    // What is on its way may not be saved.
    if (!isBusy) typed.forget();
    onClose();
  }

  return (
    <Dialog title="Add a plant" notices={notices} onClose={onClose}>
      <p role="status">{saved === undefined ? "" : `${quote(saved.name)} is saved with the id ${saved.id}.`}</p>
      {typed.isBack && isTyped && saved === undefined ? <BackAgain onDiscard={() => typed.reset(newPlant({ name, tag: "" }))} /> : null}
      <Form ref={form} onSubmit={saveAndClose}>
        <NameAndTag draft={draft} onDraft={(next) => typed.set({ ...typed.value, draft: next })} tags={tags} isFixed={isBusy} />
        <IdField typed={typed} isFixed={isBusy} />
        {problem === undefined ? null : (
          <div class="problem" role="alert">
            <p>{problem}</p>
            {takenId === undefined || !catalogue.access.read ? null : (
              <LinkButton label="Show the plant that has it" onClick={() => opening.open({ kind: "edit", id: takenId })} />
            )}
          </div>
        )}
        <footer>
          <Button label={saved === undefined ? "Cancel" : "Close"} onClick={leave} />
          <Button label="Save and add another" disabled={isBusy} onClick={() => void saveAndGoOn()} />
          <Button label={isBusy ? "Saving…" : "Save"} class="primary" type="submit" disabled={isBusy} />
        </footer>
      </Form>
    </Dialog>
  );
}

/** The id of the plant: one that was made, unless people choose one. */
function IdField({ typed, isFixed }: Readonly<{ typed: Kept<Typed>; isFixed: boolean }>) {
  const { draft, isOwnId } = typed.value;
  if (isOwnId) {
    return (
      <TextField
        label="Id"
        hint="A whole number of up to 19 digits. It cannot be changed later."
        value={draft.id}
        onValue={(id) => typed.set({ ...typed.value, draft: { ...draft, id } })}
        readOnly={isFixed}
        inputMode="numeric"
        autocomplete="off"
        ref={takeFocus}
      />
    );
  }
  return (
    <p class="hint">
      Its id will be <span class="number">{draft.id}</span>.{" "}
      <LinkButton label="Choose the id" onClick={() => typed.set({ ...typed.value, isOwnId: true })} />
    </p>
  );
}

/** An id that was made stays the same until the plant is saved: to save it once more after a lost answer is safe. */
function useAdding(catalogue: Catalogue, name: string) {
  const typed = useKept<Typed>("new-plant", () => newPlant({ name, tag: "" }));
  const { draft, isOwnId, sent = [] } = typed.value;
  const isTyped = draft.name !== name || isOwnId;
  useHold(isTyped);
  const isShown = useShown();
  const [takenId, setTakenId] = useState<bigint>();
  const { problem, setProblem, isBusy, attempt } = useAttempt((thrown) => {
    if (!isShown()) catalogue.context.notices.add({ kind: "problem", text: failedText(draft.name, failureText(thrown)) });
    if (thrown instanceof ServiceError && thrown.error === ERROR_NUMBERS.id_in_use) setTakenId(parseId(draft.id));
    return retryText(thrown);
  });

  async function send(mine: Plant): Promise<Plant> {
    const { id } = mine;
    const others = sent.filter((one) => one.id === draft.id && !isSame(toPlant(id, one), mine));
    typed.set({ draft, isOwnId, sent: [...others, draft] });
    await catalogue.deletions.flush(id);
    const before = others.map((one) => toPlant(id, one));
    if (await correct(catalogue.client, before, mine)) return mine;
    return (await (isOwnId ? catalogue.client.create(mine) : catalogue.client.add(mine, { id }))).plant;
  }

  /** Undefined if it is not saved. */
  async function save(): Promise<Plant | undefined> {
    let saved: Plant | undefined;
    await attempt(async () => {
      setTakenId(undefined);
      const id = parseId(draft.id);
      const wrong = nameProblem(toPlant(id ?? 0n, draft)) ?? (id === undefined ? ID_RULE : undefined);
      if (id === undefined || wrong !== undefined) return setProblem(wrong);
      const plant = await send(toPlant(id, draft));
      typed.forget();
      catalogue.note(undefined, plant);
      // Who has gone on meanwhile stays where they are.
      if (isShown()) catalogue.added.set(plant);
      saved = plant;
    });
    return saved;
  }

  return { typed, isTyped, isBusy, problem, takenId, isShown, save };
}

/** Makes a plant that may be stored already, as one of these, into what it is now. Whether it was there. */
async function correct(client: Client, before: readonly Plant[], to: Plant): Promise<boolean> {
  for (const from of before)
    for await (const { kind } of client.change([{ from, to }])) if (kind === "changed" || kind === "same") return true;
  return false;
}

function newPlant(draft: Omit<Draft, "id">): Typed {
  return { draft: { id: String(makeId()), ...draft }, isOwnId: false };
}

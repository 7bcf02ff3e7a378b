import { useEffect, useRef, useState } from "preact/hooks";
import type { Plant } from "../../src/client/client.ts";
import { count } from "../catalogue/bulk-text.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { quote } from "../notices.ts";
import { nameLabel, tagLabel } from "../plants/label.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/form.tsx";
import { useOwnStyle } from "../ui/own-style.ts";
import { filterOf, isEverything } from "../view.ts";
import { findSameNames, toMerge } from "./same-names.ts";
import type { SameName } from "./same-names.ts";
import css from "./same-names.css" with { type: "text" };

/** How many names are enough to go on with, and how many plants are read for them, until people ask for more. */
const NAMES_ENOUGH = 20;
const READ_MAX = 20_000;

/** Names that several plants have, among those that are shown, and what makes one plant of them. */
export function SameNamesDialog({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  useOwnStyle(css);
  const { notices, opening, views } = catalogue.context;
  const { found, read, step, problem, lookOn, drop } = useSameNames(catalogue);
  const among = isEverything(views.state.get()) ? "" : " that are shown";
  const names = found.length === 1 ? "1 name has" : `${found.length.toLocaleString()} names have`;
  return (
    <Dialog title="Same names" notices={notices} onClose={() => opening.close()} isWide>
      <p class="hint">
        A merge keeps the plant that you choose. One without a tag takes that of another; the others are deleted. The last merge can be
        undone.
      </p>
      {found.map((same) => (
        <SameNameForm key={same[0]!.id} same={same} catalogue={catalogue} onMerged={() => drop(same)} />
      ))}
      <Problem text={problem} />
      <p role="status">
        {step === "reading" ? "Looking…" : `${count(read)}${among} ${read === 1 ? "was" : "were"} looked at: ${names} more than one plant.`}
      </p>
      <footer>
        {step === "more" ? <Button label="Look on" onClick={lookOn} /> : null}
        <Button label="Done" class="primary" onClick={() => opening.close()} />
      </footer>
    </Dialog>
  );
}

type SameNameFormProps = Readonly<{ same: SameName; catalogue: Catalogue; onMerged: () => void }>;

/** The plants of one name. At first the one that has a tag is kept, else that with the lowest id. */
function SameNameForm({ same, catalogue, onMerged }: SameNameFormProps) {
  const [keep, setKeep] = useState<Plant>(() => same.find(({ tag }) => tag !== undefined) ?? same[0]!);
  const [problem, setProblem] = useState<string>();
  const [isMerging, setMerging] = useState(false);
  const mayChange = catalogue.access.write;
  async function merge(): Promise<void> {
    setMerging(true);
    try {
      // Nothing may go unless the plant is still there as it was shown: it is compared with itself.
      for await (const { kind } of catalogue.client.change([{ from: keep, to: keep }])) if (kind !== "same") return setProblem(CHANGED);
    } catch (thrown) {
      return setProblem(failureText(thrown));
    }
    const changes = toMerge(keep, same);
    const phrases = () => ({ doing: `Merging ${count(same.length)}`, done: `Merged ${count(same.length)} into ${quote(keep.name)}` });
    void catalogue.bulkChanges.run({ changes, total: changes.length, doing: "Merging", phrases });
    onMerged();
  }
  return (
    <fieldset class="same-names">
      <Problem text={problem} />
      <legend dir="auto">{nameLabel(same[0]!.name)}</legend>
      {same.map((plant) => (
        <label class="check" key={plant.id}>
          {mayChange ? (
            <input type="radio" name={String(same[0]!.id)} checked={plant.id === keep.id} onChange={() => setKeep(plant)} />
          ) : null}
          <span>
            <span class="number">{String(plant.id)}</span> {plant.name === same[0]!.name ? "" : nameLabel(plant.name)}{" "}
            <span class="hint" dir="auto">
              {plant.tag === undefined ? "no tag" : tagLabel(plant.tag)}
            </span>
          </span>
        </label>
      ))}
      {mayChange ? (
        <Button label={`Merge ${same.length === 2 ? "both" : `all ${same.length}`}`} disabled={isMerging} onClick={() => void merge()} />
      ) : null}
    </fieldset>
  );
}

const CHANGED = "Someone has changed or deleted the plant that is to be kept: nothing was merged. Open this view again.";

/** What was found so far, and what looks on. */
function useSameNames(catalogue: Catalogue) {
  const { client, listing, deletions, context } = catalogue;
  const [found, setFound] = useState<readonly SameName[]>([]);
  const [read, setRead] = useState(0);
  const [step, setStep] = useState<"reading" | "more" | "over">("reading");
  const [problem, setProblem] = useState<string>();
  const stop = useRef(new AbortController());
  const pages = useRef<ReturnType<typeof findSameNames>>(undefined);

  async function look(): Promise<void> {
    await deletions.flush();
    pages.current ??= findSameNames(client, { ...filterOf(context.views.state.get()), signal: stop.current.signal });
    let names = 0;
    for (let plants = 0, before = read; names < NAMES_ENOUGH && plants < READ_MAX;) {
      const page = await pages.current.next();
      if (page.done) return setStep("over");
      const shown = page.value.found.map((same) => same.filter(({ id }) => !listing.isHidden(id))).filter((same) => same.length > 1);
      names += shown.length;
      plants = page.value.read - before;
      setRead(page.value.read);
      setFound((old) => [...old, ...shown]);
    }
    setStep("more");
  }
  function lookOn(): void {
    setStep("reading");
    setProblem(undefined);
    look().catch((thrown: unknown) => {
      if (isAbort(thrown)) return;
      // What is found stays.
      setProblem(failureText(thrown));
      setStep("over");
    });
  }
  useEffect(() => {
    lookOn();
    return () => stop.current.abort();
  }, []);
  return { found, read, step, problem, lookOn, drop: (same: SameName) => setFound((old) => old.filter((one) => one !== same)) };
}

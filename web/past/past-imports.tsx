import { useEffect, useState } from "preact/hooks";
import type { PastImport } from "../../src/client/client.ts";
import { count } from "../catalogue/bulk-text.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { quote } from "../notices.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/form.tsx";
import { pastFailureText } from "./past-pages.ts";
import { byText, secondOf, statusText } from "./past-text.ts";
import { takeBack } from "./take-back.ts";

const NOT_ALL =
  "Not all was taken back. What someone has changed since stays as it is. If this was interrupted, take the import back again: it goes on.";

/** How many are shown at once, and how many plants of each. */
const ROWS = 20;
const EXAMPLES = 2;

type PastImportsProps = Readonly<{
  catalogue: Catalogue;
  /** The import to take back at once. It is forgotten then: who comes back to this list asks for nothing. */
  asked: { current: string | undefined };
  /** The one that is being taken back, also while this list is not shown. */
  running: string | undefined;
  onRun: (id: string | undefined) => void;
}>;

/** Imports, the last one first, each of which can be taken back. */
export function PastImports({ catalogue, asked, running, onRun }: PastImportsProps) {
  const { client, access } = catalogue;
  const [list, setList] = useState<readonly PastImport[]>();
  const [problem, setProblem] = useState<string>();
  const [rows, setRows] = useState(ROWS);
  const shown = (list ?? []).slice(0, rows);
  const examples = useExamples(catalogue, shown);

  function load(): void {
    setProblem(undefined);
    client.imports().then(setList, (thrown: unknown) => setProblem(pastFailureText(thrown)));
  }
  useEffect(load, []);
  useEffect(() => {
    const wanted = list?.find(({ id }) => id === asked.current);
    if (!wanted) return;
    asked.current = undefined;
    void take(wanted);
  }, [list]);

  async function take({ id, created, replaced }: PastImport): Promise<void> {
    onRun(id);
    setProblem(undefined);
    const isWhole = await takeBack(catalogue, id, created + replaced);
    onRun(undefined);
    setProblem(isWhole ? undefined : NOT_ALL);
  }

  return (
    <div>
      <Problem text={problem} />
      <p role="status">{statusText(list, problem, "No import is kept.")}</p>
      <ul class="past-list">
        {shown.map((one) => (
          <OneImport
            key={one.id}
            about={one}
            examples={examples.get(one.id) ?? ""}
            step={running === one.id ? "Taking back…" : "Take this import back"}
            isBusy={running !== undefined}
            onTake={access.write ? take : undefined}
          />
        ))}
      </ul>
      <div class="choices">
        {list === undefined && problem !== undefined ? <Button label="Try again" onClick={load} /> : null}
        {shown.length < (list?.length ?? 0) ? <Button label="Earlier" onClick={() => setRows(rows + ROWS)} /> : null}
      </div>
    </div>
  );
}

type OneImportProps = Readonly<{
  about: PastImport;
  examples: string;
  step: string;
  isBusy: boolean;
  onTake: ((one: PastImport) => Promise<void>) | undefined;
}>;

function OneImport({ about, examples, step, isBusy, onTake }: OneImportProps) {
  const [changed, when] = [changedText(about), secondOf(about.began)];
  const label = [`${step}: ${changed}`, examples, when].filter((part) => part !== "").join(", ");
  return (
    <li class="past-row">
      <div>
        <p>{changed}</p>
        <p class="past-examples">{examples}</p>
        <p class="hint">
          {when}
          {byText(about.by)}
        </p>
      </div>
      {onTake ? <Button label={step} aria-label={label} disabled={isBusy} onClick={() => void onTake(about)} /> : null}
    </li>
  );
}

/** For each import some of its plants, by name: others may have been made in the same second, with as many plants. One is asked for after the other. */
function useExamples({ client }: Catalogue, shown: readonly PastImport[]): ReadonlyMap<string, string> {
  const [examples, setExamples] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    const stop = new AbortController();
    async function find(): Promise<void> {
      for (const { id } of shown.filter((one) => !examples.has(one.id))) {
        // Without them, it is known when it was made, and how much it changed.
        const page = await client.changesOfImport(id, { limit: EXAMPLES, signal: stop.signal }).catch(() => undefined);
        if (stop.signal.aborted) return;
        const text = page?.changes.flatMap(({ to }) => (to ? [quote(to.name)] : [])).join(", ");
        if (text !== undefined) setExamples((before) => new Map([...before, [id, text]]));
      }
    }
    void find();
    return () => stop.abort();
  }, [shown.map(({ id }) => id).join()]);
  return examples;
}

/** "120 plants added, 3 replaced" */
function changedText({ created, replaced }: PastImport): string {
  const added = created > 0 || replaced === 0 ? `${count(created)} added` : "";
  if (replaced === 0) return added;
  return added === "" ? `${count(replaced)} replaced` : `${added}, ${replaced.toLocaleString()} replaced`;
}

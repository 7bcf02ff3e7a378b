import { useEffect, useState } from "preact/hooks";
import type { PastImport } from "../../src/client/client.ts";
import { count } from "../catalogue/bulk-text.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { minuteOf } from "../time.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/form.tsx";
import { pastFailureText } from "./past-pages.ts";
import { byText, statusText } from "./past-text.ts";
import { takeBack } from "./take-back.ts";

const NOT_ALL =
  "Not all was taken back. What someone has changed since stays as it is. If this was interrupted, take the import back again: it goes on.";

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
        {(list ?? []).map((one) => (
          <li key={one.id} class="past-row">
            <div>
              <p>{changedText(one)}</p>
              <p class="hint">
                {minuteOf(one.began)}
                {byText(one.by)}
              </p>
            </div>
            {access.write ? (
              <TakeBack
                step={running === one.id ? "Taking back…" : "Take this import back"}
                about={changedText(one)}
                disabled={running !== undefined}
                onTake={() => void take(one)}
              />
            ) : null}
          </li>
        ))}
      </ul>
      {list === undefined && problem !== undefined ? <Button label="Try again" onClick={load} /> : null}
    </div>
  );
}

type TakeBackProps = Readonly<{ step: string; about: string; disabled: boolean; onTake: () => void }>;

function TakeBack({ step, about, disabled, onTake }: TakeBackProps) {
  return <Button label={step} aria-label={`${step}: ${about}`} disabled={disabled} onClick={onTake} />;
}

/** "120 plants added, 3 replaced" */
function changedText({ created, replaced }: PastImport): string {
  const added = created > 0 || replaced === 0 ? `${count(created)} added` : "";
  if (replaced === 0) return added;
  return added === "" ? `${count(replaced)} replaced` : `${added}, ${replaced.toLocaleString()} replaced`;
}

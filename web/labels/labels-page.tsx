import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Plant } from "../../src/client/client.ts";
import { count } from "../catalogue/bulk-text.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { useKept } from "../kept.ts";
import { listen } from "../listen.ts";
import { plantFragment } from "../opening.ts";
import { Button } from "../ui/button.tsx";
import { findFocus, takeFocus } from "../ui/focus.ts";
import { Form, Problem, SelectField, TextField } from "../ui/form.tsx";
import { useOwnStyle } from "../ui/own-style.ts";
import { filterOf } from "../view.ts";
import { fitNames } from "./fit.ts";
import { Label } from "./label.tsx";
import { cornerOf, labelsOn, SHEETS } from "./sheets.ts";
import type { Sheet } from "./sheets.ts";
import css from "./labels.css" with { type: "text" };

type LabelsPageProps = Readonly<{ catalogue: Catalogue; /** Those that are selected, or all of the view. */ isOfTicked: boolean }>;

/** The name of the sheet, and the first label on it that is not used yet, as it is typed. */
type Chosen = Readonly<{ name: string; first: string }>;

/** More would be a hundred sheets, and seconds to draw. */
const LABELS_MAX = 1000;

/** Sheets of labels, as they will be printed. */
export function LabelsPage({ catalogue, isOfTicked }: LabelsPageProps) {
  const { base, opening } = catalogue.context;
  const { plants, problem } = useLabelled(catalogue, isOfTicked);
  const chosen = useKept<Chosen>("labels", () => ({ name: SHEETS[0]!.name, first: "1" }));
  const sheet = SHEETS.find(({ name }) => name === chosen.value.name) ?? SHEETS[0]!;
  const perSheet = labelsOn(sheet);
  const first = Math.min(perSheet, Math.max(1, Number.parseInt(chosen.value.first, 10) || 1));
  const sheets = useMemo(() => toSheets(plants?.slice(0, LABELS_MAX) ?? [], perSheet, first - 1), [plants, perSheet, first]);
  useEffect(() => listen({ keydown: ({ key }) => key === "Escape" && opening.close() }), []);
  // People may have clicked beside it.
  useLayoutEffect(() => () => queueMicrotask(findFocus), []);
  return (
    <main class="labels">
      <Form class="labels-form" onSubmit={() => print()}>
        <h1 tabIndex={-1} ref={takeFocus}>
          Labels
        </h1>
        <Choices sheet={sheet} chosen={chosen.value} onChosen={chosen.set} />
        <div class="choices">
          <Button label="Close" onClick={() => opening.close()} />
          <Button label="Print" class="primary" type="submit" disabled={sheets.length === 0} />
        </div>
        <Problem text={problem} />
        <p class="hint" role="status">
          {plants === undefined ? "Loading…" : describe(plants.length, sheet, sheets.length)}
        </p>
        <p class="hint">
          Print at 100 %, without margins. The codes lead to {base}: open the page under the address that people will scan.
        </p>
      </Form>
      <Sheets sheet={sheet} sheets={sheets} base={base} />
    </main>
  );
}

type ChoicesProps = Readonly<{ sheet: Sheet; chosen: Chosen; onChosen: (chosen: Chosen) => void }>;

function Choices({ sheet, chosen, onChosen }: ChoicesProps) {
  return (
    <>
      <SelectField
        label="Sheet"
        options={SHEETS.map(({ name }) => [name, name])}
        value={sheet.name}
        onValue={(name) => onChosen({ ...chosen, name })}
      />
      {labelsOn(sheet) === 1 ? null : (
        <TextField
          label="First free label"
          type="number"
          min={1}
          max={labelsOn(sheet)}
          value={chosen.first}
          onValue={(first) => onChosen({ ...chosen, first })}
        />
      )}
    </>
  );
}

function describe(plants: number, sheet: Sheet, sheets: number): string {
  const where = labelsOn(sheet) === 1 ? "" : ` on ${sheets === 1 ? "1 sheet" : `${sheets.toLocaleString()} sheets`}`;
  if (plants <= LABELS_MAX) return `${count(plants)}${where}.`;
  return `${count(LABELS_MAX)}${where}. No more are printed at once: search for the others, or select them.`;
}

type SheetsProps = Readonly<{
  sheet: Sheet;
  /** The plants of each, with undefined where a label is used already. */ sheets: readonly Places[];
  base: string;
}>;
type Places = readonly (Plant | undefined)[];

/** All sheets in their true size, as far as the window has room for it. */
function Sheets({ sheet, sheets, base }: SheetsProps) {
  const root = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  // Before names are measured.
  useOwnStyle(css);
  useOwnStyle(`@page { size: ${sheet.page.width}mm ${sheet.page.height}mm; margin: 0 }`);
  useLayoutEffect(() => {
    const measure = () => setZoom(Math.min(1, (innerWidth - 48) / ((sheet.page.width / 25.4) * 96)));
    measure();
    return listen({ resize: measure });
  }, [sheet]);
  useLayoutEffect(() => void (root.current && fitNames(root.current)), [sheet, sheets, zoom]);
  const { page, label } = sheet;
  return (
    <div class="labels-sheets" ref={root} style={{ zoom }}>
      {sheets.map((places, sheetAt) => (
        <div class="labels-sheet" key={sheetAt} style={millimetres(page)}>
          {places.map((plant, at) => {
            const { x, y } = cornerOf(sheet, at);
            const place = { ...millimetres(label), left: `${x}mm`, top: `${y}mm` };
            return (
              <div class="labels-label" key={at} style={place}>
                {plant === undefined ? null : <Label plant={plant} address={`${base}/${plantFragment(plant.id)}`} />}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

function millimetres({ width, height }: Sheet["page"]) {
  return { width: `${width}mm`, height: `${height}mm` };
}

/** The plants for each sheet; the first has so many places that are used. */
function toSheets(plants: readonly Plant[], perSheet: number, used: number): readonly Places[] {
  const places = [...Array.from({ length: used }, () => undefined), ...plants];
  const sheets = Math.ceil(places.length / perSheet);
  return plants.length === 0 ? [] : Array.from({ length: sheets }, (_, at) => places.slice(at * perSheet, (at + 1) * perSheet));
}

/** The plants that get labels, one more than can be shown; undefined as long as they are on their way. */
function useLabelled(catalogue: Catalogue, isOfTicked: boolean) {
  const [plants, setPlants] = useState(() => (isOfTicked ? catalogue.ticks.seen() : undefined));
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const stop = new AbortController();
    const { client, context } = catalogue;
    const view = context.views.state.get();
    async function gather(): Promise<void> {
      const found: Plant[] = [];
      for await (const plant of client.list({ ...filterOf(view), sort: view.sort, limit: LABELS_MAX, signal: stop.signal }))
        if (found.push(plant) > LABELS_MAX) break;
      setPlants(found);
    }
    if (plants === undefined) gather().catch((thrown: unknown) => isAbort(thrown) || setProblem(failureText(thrown)));
    return () => stop.abort();
  }, []);
  return { plants, problem };
}

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Plant } from "../../src/client/client.ts";
import type { Listed } from "./listing.ts";
import { PlantRow } from "./plant-row.tsx";
import type { RowAction } from "./plant-row.tsx";
import { useRange, useRowPx } from "./visible-rows.ts";
import type { Range } from "./visible-rows.ts";

type PlantTableProps = Readonly<{
  listed: Listed;
  mayChange: boolean;
  onMore: () => void;
  onAction: (action: RowAction, plant: Plant) => void;
}>;

/** How many rows before the end the next page is asked for. */
const AHEAD_ROWS = 250;

/**
 * A table of which only the rows in sight are there. Its parts carry their roles, as the layout takes them from the elements; the numbers of
 * rows tell a screen reader where it is in the whole.
 */
export function PlantTable({ listed, mayChange, onMore, onAction }: PlantTableProps) {
  const { plants, phase } = listed;
  const body = useRef<HTMLTableSectionElement>(null);
  const rowPx = useRowPx();
  const range = useRange(body, rowPx);
  const [focused, setFocused] = useState<number>();
  const drawn = useRef(new Map<number, Drawn>());

  const isNearEnd = range.end + AHEAD_ROWS > plants.length;
  useEffect(() => {
    if (isNearEnd && phase === "partial") onMore();
  }, [isNearEnd, phase]);

  const rows = toRows({ plants, mayChange, range, focused, rowPx, before: drawn.current });
  const topPx = Math.min(range.first, plants.length) * rowPx;
  drawn.current = rows;
  return (
    <table
      class={phase === "searching" ? "plant-table plant-table-old" : "plant-table"}
      role="table"
      aria-label="Plants"
      aria-rowcount={phase === "whole" ? plants.length + 1 : -1}
    >
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          {["Id", "Name", "Tag"].map((name) => (
            <th role="columnheader" scope="col" key={name}>
              {name}
            </th>
          ))}
          {mayChange ? (
            <th role="columnheader" scope="col">
              <span class="unseen">Change</span>
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody
        role="rowgroup"
        ref={body}
        style={{ height: `${plants.length * rowPx}px`, paddingTop: `${topPx}px` }}
        onFocusIn={({ target }) => setFocused(placeOf(target))}
        onFocusOut={() => setFocused(undefined)}
        onKeyDown={moveByArrow}
        onClick={({ target, detail }) => {
          // The second half of a double click would meet the row that came into the place of a deleted one.
          if (detail > 1) return;
          const action = target instanceof Element ? target.closest<HTMLElement>("[data-action]")?.dataset["action"] : undefined;
          const plant = plants[placeOf(target) ?? -1];
          if (action !== undefined && plant) onAction(action as RowAction, plant);
        }}
      >
        {[...rows.values()].map(({ row }) => row)}
      </tbody>
    </table>
  );
}

/** A row as it was drawn: what is drawn of the same again costs nothing. */
type Drawn = Readonly<{ plant: Plant; key: number; topPx: number | undefined; row: VNode }>;

type RowsOptions = Readonly<{
  plants: readonly Plant[];
  mayChange: boolean;
  range: Range;
  /** The place of the row with the focus, which would be lost with it. */
  focused: number | undefined;
  rowPx: number;
  before: ReadonlyMap<number, Drawn>;
}>;

/** The rows to draw, by their place. An element whose row is out of sight draws one that comes into it. */
function toRows({ plants, mayChange, range, focused, rowPx, before }: RowsOptions): Map<number, Drawn> {
  const places = Array.from({ length: Math.max(0, Math.min(range.end, plants.length) - range.first) }, (_, at) => range.first + at);
  const kept = focused === undefined || focused >= plants.length || places.includes(focused) ? [] : [focused];
  const rows = new Map<number, Drawn>();
  for (const at of [...places, ...kept].toSorted((left, right) => left - right)) {
    const plant = plants[at]!;
    const slot = at % range.size;
    const key = kept.length > 0 && at !== focused && slot === focused! % range.size ? range.size : slot;
    const old = before.get(at);
    // All others stand one below the other: where each row has a style of its own, Chromium needs twenty times as long for all styles.
    const topPx = kept.includes(at) ? at * rowPx : undefined;
    const isSame = old?.plant === plant && old.key === key && old.topPx === topPx;
    rows.set(
      at,
      isSame ? old : { plant, key, topPx, row: <PlantRow key={key} plant={plant} mayChange={mayChange} at={at} topPx={topPx} /> },
    );
  }
  return rows;
}

/** The place in the list of the row that holds an element. */
function placeOf(target: EventTarget | null): number | undefined {
  const text = target instanceof Element ? target.closest<HTMLElement>("tr")?.dataset["at"] : undefined;
  return text === undefined ? undefined : Number(text);
}

/** From a button to the same one in the next row. */
function moveByArrow(event: KeyboardEvent): void {
  const isDown = event.key === "ArrowDown";
  if ((!isDown && event.key !== "ArrowUp") || !(event.target instanceof HTMLElement)) return;
  const row = event.target.closest("tr");
  const next = isDown ? row?.nextElementSibling : row?.previousElementSibling;
  const button = next?.querySelector<HTMLElement>(`[data-action="${event.target.dataset["action"]}"]`);
  if (!button) return;
  event.preventDefault();
  button.focus();
}

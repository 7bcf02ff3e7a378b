import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Plant } from "../../src/client/client.ts";
import type { News } from "../live/news.ts";
import { useValue } from "../state.ts";
import type { Catalogue } from "./catalogue.ts";
import { ROWS_MAX } from "./listing.ts";
import { PlantRow } from "./plant-row.tsx";
import type { RowAction } from "./plant-row.tsx";
import { useScroll } from "./scroll.ts";
import { SELECTION } from "./tick-bar.tsx";
import { sortOf } from "./sort-menu.tsx";
import { usePrinting, useRange, useRowPx } from "./visible-rows.ts";
import type { Range } from "./visible-rows.ts";
import type { Ticked, Ticks } from "./ticks.ts";

/** How many rows before the end the next page is asked for. */
const AHEAD_ROWS = 250;

/** More would keep a browser for minutes. */
const PRINTED_MAX = 20_000;

/** How many of the next page are there as a place already. */
const COMING_ROWS = 3;

/**
 * A table of which only the rows in sight are there. Its parts carry their roles, as the layout takes them from the elements; the numbers of
 * rows tell a screen reader where it is in the whole.
 */
export function PlantTable({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  const { listing, ticks, context } = catalogue;
  const { views } = context;
  const mayChange = catalogue.access.write;
  const listed = useValue(listing.state);
  const { plants, phase } = listed;
  const revealed = useValue(catalogue.added)?.id;
  const gone = useValue(catalogue.news)?.gone;
  const ticked = useValue(ticks.state);
  const body = useRef<HTMLTableSectionElement>(null);
  const rowPx = useRowPx(useValue(context.compactRows));
  const inSight = useRange(body, rowPx);
  const isPrinting = usePrinting();
  const range = isPrinting ? { first: 0, end: Math.min(plants.length, PRINTED_MAX) } : inSight;

  const isPartial = (phase === "partial" || phase === "loading") && plants.length < ROWS_MAX;
  const isNearEnd = range.end + AHEAD_ROWS > plants.length;
  useEffect(() => {
    if (isNearEnd && phase === "partial") void listing.loadMore();
  }, [isNearEnd, phase]);
  useScroll({ listed, position: () => views.position(), revealed, body, rowPx });
  const { focusedAt, ...onFocus } = useFocusedRow(plants);
  const onPress = usePresses(catalogue, plants);

  const heightPx = (plants.length + (isPartial ? COMING_ROWS : 0)) * rowPx;
  const topPx = Math.min(range.first, plants.length) * rowPx;
  return (
    <table
      class={phase === "searching" ? "plant-table plant-table-old" : "plant-table"}
      role="table"
      aria-label="Plants"
      aria-rowcount={phase === "whole" ? plants.length + 1 : -1}
    >
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          <th role="columnheader" scope="col">
            <span class="unseen">Selected</span>
            <TickLoaded ticks={ticks} ticked={ticked} />
          </th>
          <th role="columnheader" scope="col" aria-sort={sortOf("id", listed.view.sort)}>
            Id
          </th>
          <th role="columnheader" scope="col" aria-sort={sortOf("name", listed.view.sort)}>
            Name
          </th>
          <th role="columnheader" scope="col">
            Tag
          </th>
          {mayChange ? (
            <th role="columnheader" scope="col">
              <span class="unseen">Change</span>
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody
        role="rowgroup"
        class="plant-table-rows"
        ref={body}
        style={isPrinting ? {} : { height: `${heightPx}px`, paddingTop: `${topPx}px` }}
        {...onFocus}
        {...onPress}
      >
        {toRows({ plants, revealed, gone, ticked, mayChange, range, focusedAt, rowPx })}
      </tbody>
    </table>
  );
}

/** The checkbox of all rows that are loaded. */
function TickLoaded({ ticks, ticked }: Readonly<{ ticks: Ticks; ticked: Ticked }>) {
  const isSome = ticked.plants.size > 0;
  const areAll = isSome && ticks.areAll();
  return (
    <input
      class="plant-table-tick"
      type="checkbox"
      aria-label="Select all plants that are loaded"
      checked={areAll}
      ref={(box) => {
        if (box) box.indeterminate = isSome && !areAll;
      }}
      onClick={() => ticks.toggleLoaded()}
    />
  );
}

/** In the place of a table that is on its way. */
export function TableSkeleton() {
  return <div class="plant-table plant-table-skeleton skeleton" />;
}

/** The place of the row that has the focus, and what keeps it. */
function useFocusedRow(plants: readonly Plant[]) {
  /** The plant whose row has the focus, and where it was then. */
  const [focused, setFocused] = useState<Readonly<{ id: bigint | undefined; at: number }>>();
  // Most often where it was: to go through all of a long list takes longer than a frame.
  const isThere = focused !== undefined && plants[focused.at]?.id === focused.id;
  const focusedAt = isThere ? focused.at : focused === undefined ? -1 : plants.findIndex((plant) => plant.id === focused.id);
  return {
    focusedAt,
    onFocusIn({ target }: FocusEvent): void {
      const at = placeOf(target) ?? -1;
      setFocused({ id: plants[at]?.id, at });
    },
    onFocusOut: () => setFocused(undefined),
  };
}

function usePresses(catalogue: Catalogue, plants: readonly Plant[]) {
  const isShifted = useRef(false);
  return {
    onKeyDown(event: KeyboardEvent): void {
      // The click that Firefox makes of Space knows of no Shift, and none knows of one that was released first.
      isShifted.current = event.key === " " && event.shiftKey;
      moveByArrow(event);
    },
    onClick(event: MouseEvent): void {
      const { target, detail, ctrlKey, metaKey, shiftKey } = event;
      const at = placeOf(target);
      const isRange = shiftKey || (detail === 0 && isShifted.current);
      isShifted.current = false;
      if (!(target instanceof Element)) return;
      // The checkbox, or what is around it: no other action is meant there.
      if (at !== undefined && target.closest(".plant-row-tick")) return catalogue.ticks.toggle(at, isRange);
      // The second half of a double click would meet the row that came into the place of a deleted one.
      if (detail > 1) return;
      const action = target.closest<HTMLElement>("[data-action]")?.dataset["action"] ?? "open";
      const plant = plants[at ?? -1];
      // A link for another tab; text that is being selected.
      if (!plant || (action === "open" && (ctrlKey || metaKey || shiftKey || getSelection()?.isCollapsed === false))) return;
      event.preventDefault();
      act(action as RowAction, plant, catalogue);
    },
  };
}

function act(action: RowAction, plant: Plant, { deletions, news, ticks, context: { views, opening } }: Catalogue): void {
  const isDeleted = news.get()?.gone.get(plant.id) === true;
  if (action === "edit" || action === "open") opening.open({ kind: isDeleted ? "history" : "edit", id: plant.id });
  else if (action === "delete") {
    if (isDeleted) return;
    deletions.remove([plant]);
    ticks.note([{ before: plant, after: undefined }]);
  } else if (plant.tag !== undefined) views.show({ ...views.state.get(), tag: plant.tag }, "push");
}

type RowsOptions = Readonly<{
  plants: readonly Plant[];
  revealed: bigint | undefined;
  gone: News["gone"] | undefined;
  ticked: Ticked;
  mayChange: boolean;
  range: Range;
  /** The place of the row that has the focus, which would be lost with it; -1 if none has it. */
  focusedAt: number;
  rowPx: number;
}>;

/**
 * The rows to draw. A plant keeps its element when others come or go above it: the focus stays with its plant, and a screen reader, which drops
 * what it is told where too much changes at once, hears of one row. Each drawing makes new nodes: a node of Preact that is used again holds all
 * those that were drawn before it, with the lists that they came from.
 */
function toRows({ plants, revealed, gone, ticked, mayChange, range, focusedAt, rowPx }: RowsOptions): readonly VNode[] {
  const places = Array.from({ length: Math.max(0, Math.min(range.end, plants.length) - range.first) }, (_, at) => range.first + at);
  const isApart = focusedAt !== -1 && !places.includes(focusedAt);
  const drawn = isApart ? [...places, focusedAt].toSorted((left, right) => left - right) : places;
  return drawn.map((at) => {
    const plant = plants[at]!;
    return (
      <PlantRow
        key={plant.id}
        plant={plant}
        isRevealed={plant.id === revealed}
        isDeleted={gone?.get(plant.id) === true}
        isTicked={ticked.plants.has(plant.id)}
        mayChange={mayChange}
        at={at}
        // All others stand one below the other: where each row has a style of its own, Chromium needs twenty times as long for all styles.
        topPx={isApart && at === focusedAt ? at * rowPx : undefined}
      />
    );
  });
}

function placeOf(target: EventTarget | null): number | undefined {
  const text = target instanceof Element ? target.closest<HTMLElement>("tr")?.dataset["at"] : undefined;
  return text === undefined ? undefined : Number(text);
}

/** From a link or button to the same one in the next row. */
function moveByArrow(event: KeyboardEvent): void {
  // A checkbox makes nothing of it. All rows would be on the way to what can be done with those that are selected.
  if (event.key === "Enter" && event.target instanceof HTMLInputElement) document.getElementById(SELECTION)?.focus();
  const isDown = event.key === "ArrowDown";
  if ((!isDown && event.key !== "ArrowUp") || !(event.target instanceof HTMLElement)) return;
  const row = event.target.closest("tr");
  const next = isDown ? row?.nextElementSibling : row?.previousElementSibling;
  const button = next?.querySelector<HTMLElement>(`[data-action="${event.target.dataset["action"]}"]`);
  if (!button) return;
  event.preventDefault();
  button.focus();
}

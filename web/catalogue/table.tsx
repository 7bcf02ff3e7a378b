import { useEffect, useRef, useState } from "preact/hooks";
import type { Plant } from "../../src/client/client.ts";
import type { Listed } from "./listing.ts";
import { PlantRow } from "./row.tsx";
import type { RowActions } from "./row.tsx";
import { useRange, useRowPx } from "./window.ts";

type PlantTableProps = RowActions & Readonly<{ listed: Listed; onMore: () => void }>;

/** How many rows before the end the next page is asked for. */
const AHEAD_ROWS = 250;

/**
 * A table of which only the rows in sight are there. Its parts carry their roles, as the layout takes them from the elements; the numbers of
 * rows tell a screen reader where it is in the whole.
 */
export function PlantTable({ listed, onMore, ...actions }: PlantTableProps) {
  const { plants, phase } = listed;
  const body = useRef<HTMLTableSectionElement>(null);
  const rowPx = useRowPx();
  const range = useRange(body, rowPx);
  const [focused, setFocused] = useState<bigint>();

  const isNearEnd = range.end + AHEAD_ROWS > plants.length;
  useEffect(() => {
    if (isNearEnd && phase === "partial") onMore();
  }, [isNearEnd, phase]);

  return (
    <table
      class={phase === "searching" ? "plants old" : "plants"}
      role="table"
      aria-label="Plants"
      aria-rowcount={phase === "whole" ? plants.length + 1 : -1}
    >
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          <th role="columnheader" scope="col">
            Id
          </th>
          <th role="columnheader" scope="col">
            Name
          </th>
          <th role="columnheader" scope="col">
            Tag
          </th>
          <th role="columnheader" scope="col">
            <span class="unseen">Change</span>
          </th>
        </tr>
      </thead>
      <tbody
        role="rowgroup"
        ref={body}
        style={{ height: `${plants.length * rowPx}px` }}
        onFocusIn={({ target }) => setFocused(idOf(target))}
        onFocusOut={() => setFocused(undefined)}
        onKeyDown={moveByArrow}
      >
        {places(plants, range, focused).map((at) => {
          const plant = plants[at]!;
          return <PlantRow key={plant.id} plant={plant} at={at} rowPx={rowPx} {...actions} />;
        })}
      </tbody>
    </table>
  );
}

/** The rows to draw: those in sight, and the one with the focus, which would be lost with it. */
function places(plants: readonly Plant[], { first, end }: Readonly<{ first: number; end: number }>, focused: bigint | undefined): number[] {
  const shown: number[] = [];
  for (let at = first; at < Math.min(end, plants.length); at += 1) shown.push(at);
  if (focused === undefined) return shown;
  const kept = plants.findIndex(({ id }) => id === focused);
  if (kept === -1 || (kept >= first && kept < end)) return shown;
  return kept < first ? [kept, ...shown] : [...shown, kept];
}

function idOf(target: EventTarget | null): bigint | undefined {
  const text = target instanceof Element ? target.closest<HTMLElement>("tr")?.dataset["id"] : undefined;
  return text === undefined ? undefined : BigInt(text);
}

/** From a button to the same one in the next row. */
function moveByArrow(event: KeyboardEvent): void {
  const isDown = event.key === "ArrowDown";
  if ((!isDown && event.key !== "ArrowUp") || !(event.target instanceof HTMLElement)) return;
  const row = event.target.closest("tr");
  const next = isDown ? row?.nextElementSibling : row?.previousElementSibling;
  const action = event.target.dataset["action"];
  const button = next?.querySelector<HTMLElement>(`[data-action="${action}"]`);
  if (!button) return;
  event.preventDefault();
  button.focus();
}

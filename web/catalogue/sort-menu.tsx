import type { Sort } from "../../src/client/client.ts";

/** What an order is called, and how a column is sorted by it: the usual ones first, then their reverses. */
const ORDERS = {
  id: { label: "Lowest id", column: "id", aria: "ascending" },
  name: { label: "Name, A to Z", column: "name", aria: "ascending" },
  newest: { label: "Newest", column: "none", aria: undefined },
  "-id": { label: "Greatest id", column: "id", aria: "descending" },
  "-name": { label: "Name, Z to A", column: "name", aria: "descending" },
  oldest: { label: "Oldest", column: "none", aria: undefined },
} as const satisfies Record<Sort, Readonly<{ label: string; column: "id" | "name" | "none"; aria: string | undefined }>>;

type SortMenuProps = Readonly<{ sort: Sort; onSort: (sort: Sort) => void }>;

/** All orders in one control of the browser, which one key changes. */
export function SortMenu({ sort, onSort }: SortMenuProps) {
  return (
    <div class="sort-menu">
      <label for="sort">Sort</label>
      <select id="sort" value={sort} onChange={({ currentTarget }) => onSort(currentTarget.value as Sort)}>
        {Object.entries(ORDERS).map(([one, { label }]) => (
          <option value={one} key={one}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

/** How this column is sorted, for its heading. */
export function sortOf(column: "id" | "name", sort: Sort): "ascending" | "descending" | undefined {
  return ORDERS[sort].column === column ? ORDERS[sort].aria : undefined;
}

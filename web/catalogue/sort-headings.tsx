import type { Sort } from "../view.ts";

const LABELS = { id: "Id", newest: "Newest", name: "Name" } as const satisfies Record<Sort, string>;

/** What is said to those who choose an order again, and expect its reverse. */
export function sortedText(by: Sort): string {
  return `Sorted by ${by}. There is no reverse order.`;
}

type SortHeadingsProps = Readonly<{ sort: Sort; onSort: (sort: Sort) => void }>;

/** The headings of the columns that the table can be sorted by. The newest plants come under that of their ids. */
export function SortHeadings({ sort, onSort }: SortHeadingsProps) {
  return (
    <>
      <th role="columnheader" scope="col" aria-sort={sort === "id" ? "ascending" : sort === "newest" ? "other" : undefined}>
        <SortButton by="id" sort={sort} onSort={onSort} /> <SortButton by="newest" sort={sort} onSort={onSort} />
      </th>
      <th role="columnheader" scope="col" aria-sort={sort === "name" ? "ascending" : undefined}>
        <SortButton by="name" sort={sort} onSort={onSort} />
      </th>
    </>
  );
}

function SortButton({ by, sort, onSort }: SortHeadingsProps & Readonly<{ by: Sort }>) {
  return (
    <button
      class="sort-headings-button"
      type="button"
      aria-pressed={by === sort}
      title={by === sort ? sortedText(by) : `Sort by ${by}`}
      onClick={() => onSort(by)}
    >
      {LABELS[by]}
    </button>
  );
}

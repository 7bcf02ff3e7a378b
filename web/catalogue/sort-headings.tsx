import type { Sort } from "../../src/client/client.ts";

/** How an order is called, what it is in words, and which one is its reverse. */
const ORDERS = {
  id: { label: "Id", words: "by id, the lowest first", aria: "ascending", reverse: "-id" },
  "-id": { label: "Id", words: "by id, the greatest first", aria: "descending", reverse: "id" },
  newest: { label: "Newest", words: "the newest first", aria: "other", reverse: "oldest" },
  oldest: { label: "Oldest", words: "the oldest first", aria: "other", reverse: "newest" },
  name: { label: "Name", words: "by name, from A to Z", aria: "ascending", reverse: "-name" },
  "-name": { label: "Name", words: "by name, from Z to A", aria: "descending", reverse: "name" },
} as const satisfies Record<Sort, Readonly<Record<"label" | "words" | "aria", string> & { reverse: Sort }>>;

type SortHeadingsProps = Readonly<{ sort: Sort; onSort: (sort: Sort) => void }>;

/** The headings of the columns that the table can be sorted by. The newest plants come under that of their ids. */
export function SortHeadings({ sort, onSort }: SortHeadingsProps) {
  const { aria } = ORDERS[sort];
  const isByName = sort === "name" || sort === "-name";
  return (
    <>
      <th role="columnheader" scope="col" aria-sort={isByName ? undefined : aria}>
        <SortButton by="id" sort={sort} onSort={onSort} /> <SortButton by="newest" sort={sort} onSort={onSort} />
      </th>
      <th role="columnheader" scope="col" aria-sort={isByName ? aria : undefined}>
        <SortButton by="name" sort={sort} onSort={onSort} />
      </th>
    </>
  );
}

/** Sorts by something, and the other way round when it is so already. */
function SortButton({ by, sort, onSort }: SortHeadingsProps & Readonly<{ by: Sort }>) {
  const { reverse } = ORDERS[by];
  const isReversed = sort === reverse;
  const next = sort === by ? reverse : by;
  return (
    <button
      class="sort-headings-button"
      type="button"
      aria-pressed={isReversed || sort === by}
      data-reversed={isReversed}
      title={`Sort ${ORDERS[next].words}`}
      onClick={() => onSort(next)}
    >
      {ORDERS[isReversed ? reverse : by].label}
    </button>
  );
}

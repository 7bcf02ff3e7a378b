import type { Sort } from "../../src/client/client.ts";

/** The orders that begin with what people ask for most, and their reverses. */
const REVERSE = { id: "-id", newest: "oldest", name: "-name" } as const satisfies Partial<Record<Sort, Sort>>;

const LABELS = {
  id: "Id",
  "-id": "Id",
  newest: "Newest",
  oldest: "Oldest",
  name: "Name",
  "-name": "Name",
} as const satisfies Record<Sort, string>;

const WORDS = {
  id: "by id, the lowest first",
  "-id": "by id, the greatest first",
  newest: "the newest first",
  oldest: "the oldest first",
  name: "by name, from A to Z",
  "-name": "by name, from Z to A",
} as const satisfies Record<Sort, string>;

const ARIA = {
  id: "ascending",
  "-id": "descending",
  newest: "other",
  oldest: "other",
  name: "ascending",
  "-name": "descending",
} as const satisfies Record<Sort, string>;

type SortHeadingsProps = Readonly<{ sort: Sort; onSort: (sort: Sort) => void }>;

/** The headings of the columns that the table can be sorted by. The newest plants come under that of their ids. */
export function SortHeadings({ sort, onSort }: SortHeadingsProps) {
  const isByName = LABELS[sort] === LABELS.name;
  return (
    <>
      <th role="columnheader" scope="col" aria-sort={isByName ? undefined : ARIA[sort]}>
        <SortButton by="id" sort={sort} onSort={onSort} /> <SortButton by="newest" sort={sort} onSort={onSort} />
      </th>
      <th role="columnheader" scope="col" aria-sort={isByName ? ARIA[sort] : undefined}>
        <SortButton by="name" sort={sort} onSort={onSort} />
      </th>
    </>
  );
}

/** Sorts by something, and the other way round when it is so already. */
function SortButton({ by, sort, onSort }: SortHeadingsProps & Readonly<{ by: keyof typeof REVERSE }>) {
  const reverse = REVERSE[by];
  const isReversed = sort === reverse;
  const next = sort === by ? reverse : by;
  return (
    <button
      class="sort-headings-button"
      type="button"
      aria-pressed={isReversed || sort === by}
      data-reversed={isReversed}
      title={`Sort ${WORDS[next]}`}
      onClick={() => onSort(next)}
    >
      {LABELS[isReversed ? reverse : by]}
    </button>
  );
}

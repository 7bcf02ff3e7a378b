/** How many columns are named. */
const SHOWN = 10;

/** Says which columns of a file are not imported. */
export function UnusedColumns({ columns }: { columns: readonly string[] }) {
  if (columns.length === 0) return null;
  const more = columns.length - SHOWN;
  const names = [...columns.slice(0, SHOWN), ...(more > 0 ? [`${more} more`] : [])];
  return (
    <p class="hint">{`${names.join(", ")} ${columns.length === 1 ? "is" : "are"} not imported: a plant has an id, a name and a tag.`}</p>
  );
}

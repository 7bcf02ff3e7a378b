const SHOWN = 50;

type LineListProps = Readonly<{
  label: string;
  lines: ReadonlyArray<Readonly<{ line: number; message: string }>>;
  total?: number;
  class?: string;
}>;

/** What is to be said of the first of these lines of a file. */
export function LineList({ label, lines, total = lines.length, class: kind = "import-problems" }: LineListProps) {
  if (lines.length === 0) return null;
  const more = total - Math.min(SHOWN, lines.length);
  return (
    <div class={kind} role="group" aria-label={label} tabIndex={0}>
      <ul>
        {lines.slice(0, SHOWN).map(({ line, message }) => (
          <li key={`${line} ${message}`}>
            <strong>Line {line.toLocaleString()}</strong> {message}
          </li>
        ))}
        {more > 0 ? <li>and {more.toLocaleString()} more.</li> : null}
      </ul>
    </div>
  );
}

const NAMED = 10;

export function UnusedColumns({ columns }: { columns: readonly string[] }) {
  if (columns.length === 0) return null;
  const more = columns.length - NAMED;
  const names = [...columns.slice(0, NAMED), ...(more > 0 ? [`${more} more`] : [])];
  return (
    <p class="hint">{`${names.join(", ")} ${columns.length === 1 ? "is" : "are"} not imported: a plant has an id, a name and a tag.`}</p>
  );
}

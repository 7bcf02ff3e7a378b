import type { ImportProblem } from "../../src/client/client.ts";

const SHOWN = 50;

/** The first problems of a file, by line. */
export function ProblemList({ problems, total }: { problems: readonly ImportProblem[]; total: number }) {
  if (problems.length === 0) return null;
  const more = total - Math.min(SHOWN, problems.length);
  return (
    <div class="import-problems" role="group" aria-label="Problems" tabIndex={0}>
      <ul>
        {problems.slice(0, SHOWN).map(({ line, message }) => (
          <li key={line}>
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

import type { ImportProblem } from "../../src/client/client.ts";

const SHOWN = 50;

/** The first problems of a file, by line. */
export function ProblemList({ problems, total }: { problems: readonly ImportProblem[]; total: number }) {
  if (problems.length === 0) return null;
  const more = total - Math.min(SHOWN, problems.length);
  return (
    <div class="problem-list" role="group" aria-label="Problems" tabIndex={0}>
      <ul>
        {problems.slice(0, SHOWN).map(({ line, message }) => (
          <li key={line}>
            <span class="problem-list-line">Line {line.toLocaleString()}</span> {message}
          </li>
        ))}
        {more > 0 ? <li>and {more.toLocaleString()} more.</li> : null}
      </ul>
    </div>
  );
}

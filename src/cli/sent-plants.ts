import { plantText } from "../client/plant.ts";
import type { ImportSummary as SentSummary } from "../client/client.ts";
import { toFound } from "../files/import.ts";
import type { ImportSummary, Problem } from "../files/import.ts";
import { readFile } from "../files/read-file.ts";
import type { FileSource } from "../files/read-file.ts";
import type { Asked } from "../files/reading/reading.ts";
import { createFindings, SENDER_LIMITS } from "../files/row.ts";

const PROBLEMS_MAX = 1000;
const OUTCOMES_MAX = 1000;

/** Begins to read a file, to send its plants as NDJSON, whose lines have the numbers that they have in the file. */
export async function readPlants(source: FileSource, asked: Asked, onProblem: (problem: Problem) => void) {
  const findings = createFindings();
  const options = { ...SENDER_LIMITS, table: { asked } };
  const rows = readFile(source, options, findings);
  const first = await rows.next();
  const problems: Problem[] = [];
  let refused = 0;
  /** Where each of the first rows went: into the first summary, into the second, or nowhere. */
  const ways: (0 | 1 | "refused")[] = [];

  async function* allRows(): typeof rows {
    if (!first.done) yield first.value;
    yield* rows;
  }

  return {
    /** Whether no row has an id of its own. */
    areIdsMade: findings.layout?.id.length === 0,
    /** Without those of rows whose ids were made, if `kept` gathers them: few, in a file that has ids. */
    async *lines(kept: string[] | undefined): AsyncGenerator<string, void, void> {
      const [next, nextKept] = [createNumbering(), createNumbering()];
      for await (const some of allRows()) {
        let text = "";
        for (const row of some) {
          if (ways.length < OUTCOMES_MAX) ways.push("refusal" in row ? "refused" : row.isIdMade && kept ? 1 : 0);
          if ("plant" in row && row.isIdMade && kept) kept.push(nextKept(row.line, plantText(row.plant)));
          else if ("plant" in row) text += next(row.line, plantText(row.plant));
          else {
            const problem = { line: row.line, error: row.refusal.number, message: row.refusal.message };
            refused += 1;
            if (problems.length < PROBLEMS_MAX) problems.push(problem);
            onProblem(problem);
          }
        }
        yield text;
      }
      // A body without a byte is refused.
      yield "\n";
    },
    /** What became of the whole file. */
    total(summaries: readonly SentSummary[]): ImportSummary {
      const sum = (count: "read" | "created" | "unchanged" | "replaced" | "refused") =>
        summaries.reduce((total, summary) => total + summary[count], 0);
      const all = [...problems, ...summaries.flatMap((summary) => summary.problems)].toSorted((one, other) => one.line - other.line);
      return {
        read: sum("read") + refused,
        created: sum("created"),
        unchanged: sum("unchanged"),
        replaced: sum("replaced"),
        refused: sum("refused") + refused,
        problems: all.slice(0, PROBLEMS_MAX),
        ...(summaries.every(({ outcomes }) => outcomes) ? { outcomes: mergeOutcomes(ways, summaries) } : {}),
        ...toFound(findings, options),
      };
    },
  };
}

type Outcomes = NonNullable<SentSummary["outcomes"]>;

/** What would become of the first rows, in their order. */
function mergeOutcomes(ways: readonly (0 | 1 | "refused")[], summaries: readonly SentSummary[]): Outcomes {
  const said = summaries.map(({ outcomes = [] }) => outcomes.values());
  return ways.map((way) => (way === "refused" ? way : (said[way]?.next().value ?? "refused")));
}

/** Puts a text on a line of this number, behind blank lines. */
function createNumbering(): (line: number, text: string) => string {
  let line = 1;
  return (wanted, text) => {
    const blank = "\n".repeat(wanted - line);
    line = wanted + 1;
    return `${blank}${text}\n`;
  };
}

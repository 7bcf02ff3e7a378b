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

/** In each request, as many lines with ids that were made. */
const KEPT_LINES = 50_000;

/** Reads a file to send its plants as NDJSON, whose lines have the numbers that they have in the file. */
export function readPlants(source: FileSource, asked: Asked, onProblem: (problem: Problem) => void) {
  const findings = createFindings();
  const options = { ...SENDER_LIMITS, table: { asked } };
  const problems: Problem[] = [];
  let refused = 0;
  /** Where each of the first rows went: into the first summary, into the second, or nowhere. */
  const ways: (0 | 1 | "refused")[] = [];

  return {
    /** Without those of rows whose ids were made, if `sendKept` takes them: some thousand at a time. */
    async *lines(sendKept: ((lines: readonly string[]) => Promise<void>) | undefined): AsyncGenerator<string, void, void> {
      const next = createNumbering();
      let [kept, nextKept]: [string[], ReturnType<typeof createNumbering>] = [[], createNumbering()];
      for await (const some of readFile(source, options, findings)) {
        let text = "";
        for (const row of some) {
          if (ways.length < OUTCOMES_MAX) ways.push("refusal" in row ? "refused" : row.isIdMade && sendKept ? 1 : 0);
          if ("plant" in row && row.isIdMade && sendKept) kept.push(nextKept(row.line, plantText(row.plant)));
          else if ("plant" in row) text += next(row.line, plantText(row.plant));
          else {
            const problem = { line: row.line, error: row.refusal.number, message: row.refusal.message };
            refused += 1;
            if (problems.length < PROBLEMS_MAX) problems.push(problem);
            onProblem(problem);
          }
        }
        yield text;
        if (kept.length < KEPT_LINES) continue;
        await sendKept?.(kept);
        [kept, nextKept] = [[], createNumbering()];
      }
      if (kept.length > 0) await sendKept?.(kept);
      // A body without a byte is refused.
      yield "\n";
    },
    /** What became of the whole file. */
    total(main: SentSummary, kept: readonly SentSummary[]): ImportSummary {
      const summaries = [main, ...kept];
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
  const [first, ...others] = summaries.map(({ outcomes = [] }) => outcomes);
  const said = [first?.values(), others.flat().values()];
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

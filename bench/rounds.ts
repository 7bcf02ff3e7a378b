import type { Bench } from "./bench.ts";
import { median, quantile } from "./quantile.ts";

/** The figures of each contender, one for each round. They run one after the other, so a ratio compares rates of the same minute. */
type Rounds<Name extends string, Figures> = Readonly<Record<Name, readonly Figures[]>>;

/** By head: how to get a figure, and with how many digits to show it. */
type Columns<Figures> = Readonly<Record<string, readonly [figure: (figures: Figures) => number, digits: number]>>;

/** Runs each of these once in each round. `run` also gets the number of the round, from 1. */
export async function inTurns<Name extends string, Figures extends Readonly<{ rate: number }>>(
  { note, rounds }: Bench,
  { part, names }: Readonly<{ part: string; names: readonly Name[] }>,
  run: (name: Name, number: number) => Promise<Figures>,
): Promise<Rounds<Name, Figures>> {
  const all = Object.fromEntries(names.map((name): [string, Figures[]] => [name, []])) as Record<Name, Figures[]>;
  for (let number = 1; number <= rounds; number += 1) {
    for (const name of names) {
      const figures = await run(name, number);
      note(`${part}: round ${number} of ${rounds}, ${name}: ${toText(figures.rate)} a second`);
      all[name].push(figures);
    }
  }
  return all;
}

/** A row for each contender: by default the median of its rounds, with minimum and maximum. */
export function toFigureTable<Figures>(
  rounds: Rounds<string, Figures>,
  columns: Columns<NoInfer<Figures>>,
  summarize: (values: readonly number[], digits: number) => string = toSpread,
): string {
  const rows = Object.entries(rounds).map(([name, all]) => [
    name,
    ...Object.values(columns).map(([figure, digits]) => summarize(all.map(figure), digits)),
  ]);
  return toTable([["", ...Object.keys(columns)], ...rows]);
}

/** The ratios of rates of two contenders, within a round. */
export function toRatioTable<Name extends string>(
  rounds: Rounds<Name, Readonly<{ rate: number }>>,
  pairs: readonly (readonly [NoInfer<Name>, NoInfer<Name>])[],
): string {
  const rows = pairs.map(([one, other]) => {
    const ratios = rounds[one].map(({ rate }, at) => rate / rounds[other][at]!.rate);
    return [`${one} / ${other}`, toSpread(ratios, 2)];
  });
  return toTable([["ratio of rates", "within a round"], ...rows]);
}

/** Aligns columns: names to the left, figures to the right. The first row is the head. */
function toTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))));
  return lines.map((cells) => cells.join("   ").trimEnd()).join("\n");
}

/** The median with the minimum and maximum, such as "12 [10-15]". */
export function toSpread(values: readonly number[], digits = 0): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => toText(value, digits));
  return `${toText(median(values), digits)} [${least}-${most}]`;
}

/** The median with the quartiles, such as "0.5 [-0.2 to 1.1]". */
export function toQuartiles(values: readonly number[], digits = 0): string {
  const [low, high] = [0.25, 0.75].map((share) => toText(quantile(values, share), digits));
  return `${toText(median(values), digits)} [${low} to ${high}]`;
}

export function toText(value: number, digits = 0): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

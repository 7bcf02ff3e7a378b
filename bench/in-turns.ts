import { toSpread, toTable } from "./text-table.ts";

/** The figures of each contender in one round. They run one after the other, so a ratio compares rates of the same minute. */
export type Round<Name extends string, Figures> = Readonly<Partial<Record<Name, Figures>>>;

/** By column head. `value` is undefined if a contender has no such figure. */
type Columns<Figures> = Readonly<Record<string, (figures: Figures) => Readonly<{ value: number | undefined; digits: number }>>>;

type Turns<Name extends string, Figures> = Readonly<{ names: readonly Name[]; rounds: readonly Round<Name, Figures>[] }>;

export function toFigureTable<Name extends string, Figures>(
  { names, rounds }: Turns<Name, Figures>,
  columns: Columns<NoInfer<Figures>>,
): string {
  const rows = names.map((name) => {
    const figures = rounds.flatMap((round) => round[name] ?? []);
    return [name, ...Object.values(columns).map((column) => toCell(figures.map(column)))];
  });
  return toTable([["contender", ...Object.keys(columns)], ...rows]);
}

/** The ratio of the service to each of the others, within a round. */
export function toRatioTable<Name extends string, Figures extends Readonly<{ rate: number }>>({
  names,
  rounds,
}: Turns<Name, Figures>): string {
  const service = names.find((name) => name === "service");
  if (service === undefined) return "";
  const others = names.filter((name) => name !== service);
  const rows = others.map((other) => {
    const ratios = rounds.flatMap(({ [service]: ours, [other]: theirs }) => (ours && theirs ? [ours.rate / theirs.rate] : []));
    return [`service / ${other}`, toSpread(ratios, 2)];
  });
  return toTable([["ratio of rates", "within a round"], ...rows]);
}

function toCell(cells: readonly Readonly<{ value: number | undefined; digits: number }>[]): string {
  const values = cells.flatMap(({ value }) => value ?? []);
  return values.length === 0 ? "-" : toSpread(values, cells[0]?.digits);
}

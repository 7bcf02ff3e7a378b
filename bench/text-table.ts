import { median, quantile } from "./quantile.ts";

/** Aligns columns: names to the left, figures to the right. The first row is the head. */
export function toTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => pad(cell, { column, width: widths[column] ?? 0 })));
  return lines.map((cells) => cells.join("   ").trimEnd()).join("\n");
}

/** The median with the minimum and maximum, such as "12 [10-15]". */
export function toSpread(values: readonly number[], digits = 0): string {
  const range = [Math.min(...values), Math.max(...values)].map((value) => toText(value, digits));
  return `${toText(median(values), digits)} [${range.join("-")}]`;
}

/** The median with the quartiles, such as "0.5 [-0.2 to 1.1]". */
export function toQuartiles(values: readonly number[], digits = 0): string {
  const [low, high] = [0.25, 0.75].map((share) => toText(quantile(values, share), digits));
  return `${toText(median(values), digits)} [${low} to ${high}]`;
}

export function toText(value: number, digits = 0): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function toMegabytes(bytes: number): number {
  return bytes / 1e6;
}

function pad(cell: string, { column, width }: { column: number; width: number }): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** The value that a share of the values, from 0 to 1, do not exceed; 1 gives the greatest. NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const at = Math.max(0, Math.ceil(values.length * share) - 1);
  return values.toSorted((left, right) => left - right)[at] ?? Number.NaN;
}

/** The value in the middle; of two, their mean. NaN when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

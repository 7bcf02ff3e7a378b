import { fromIds } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";

/** Where a change is: the index of it in its row. */
export type ChangePlace = Readonly<{ seq: number; index: number }>;

/** The rows of the import with this number from `low` to `high`. */
export type Stretch = Readonly<{ number: number; low: number; high: number }>;

/** A row of changes, as they are looked through. */
export type LookedRow = Pick<LogRow, "ids"> & Readonly<{ seq: number; import: number | null }>;

/**
 * The changes of a stretch of an import, each with the next change of its plant, which may be far behind the stretch. What
 * was looked at for some of them need not be looked at for the others.
 */
export class NextChanges {
  readonly #stretch: Stretch;
  /** Of each row of the stretch, the number of its first change. */
  readonly #firsts = new Map<number, number>();
  /** By the number of a change. A row is 0 while none is known. */
  readonly #nextRows: number[] = [];
  readonly #nextIndexes: number[] = [];
  /** The numbers of changes that wait for the next one of their plant. */
  readonly #waiting = new Map<bigint, number>();
  /** Lets through all that wait, and few others: numbers are ten times as fast as bigints. */
  readonly #sieve = new Uint8Array(2 ** HOLES_BITS);
  /** The row to look at next. */
  from: number;

  constructor(stretch: Stretch) {
    this.#stretch = stretch;
    this.from = stretch.low;
  }

  covers({ low, high }: Pick<Stretch, "low" | "high">): boolean {
    return this.#stretch.low <= low && high <= this.#stretch.high;
  }

  /** Looks at the row `from`, or at a later one if those between are gone. */
  look({ seq, ids, import: number }: LookedRow): void {
    const { high, number: wanted } = this.#stretch;
    const isOurs = seq <= high && number === wanted;
    const wholes = fromIds(ids);
    const halves = new Int32Array(wholes.buffer);
    if (isOurs) this.#firsts.set(seq, this.#nextRows.length);
    for (let index = 0; index < wholes.length; index += 1) {
      const hole = holeOf(halves[2 * index]!, halves[2 * index + 1]!);
      if (this.#sieve[hole] === 1) this.#note(wholes[index]!, { seq, index });
      if (!isOurs) continue;
      this.#sieve[hole] = 1;
      this.#waiting.set(wholes[index]!, this.#nextRows.length);
      this.#nextRows.push(0);
      this.#nextIndexes.push(0);
    }
    this.from = seq + 1;
  }

  /** Whether a row was looked at. One that is no longer kept was not. */
  has(seq: number): boolean {
    return this.#firsts.has(seq);
  }

  /** The next change of the plant of a change. Undefined if there is none, or none yet. */
  nextOf({ seq, index }: ChangePlace): ChangePlace | undefined {
    const number = this.#firsts.get(seq)! + index;
    const row = this.#nextRows[number];
    return row ? { seq: row, index: this.#nextIndexes[number]! } : undefined;
  }

  #note(id: bigint, { seq, index }: ChangePlace): void {
    const number = this.#waiting.get(id);
    if (number === undefined) return;
    this.#nextRows[number] = seq;
    this.#nextIndexes[number] = index;
    this.#waiting.delete(id);
  }
}

const HOLES_BITS = 20;

/** Where the halves of an id fall. */
function holeOf(first: number, second: number): number {
  return (Math.imul(first, 0x9e_37_79_b1) ^ Math.imul(second, 0x85_eb_ca_77)) >>> (32 - HOLES_BITS);
}

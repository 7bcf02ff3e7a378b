import { fromIds } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";

/** Where a change is: the index of it in its row. */
export type ChangePlace = Readonly<{ seq: number; index: number }>;

/** The rows of the import with this number from `low` to `high`. */
export type Stretch = Readonly<{ number: number; low: number; high: number }>;

/** A row of changes, as they are looked through. */
export type LookedRow = Pick<LogRow, "ids"> & Readonly<{ seq: number; import: number | null }>;

/** How many changes there is room for at first. */
const ROOM = 512;

/** A row has fewer changes. */
const INDEXES = 1024;

/**
 * The changes of a stretch of an import, each with the next change of its plant, which may be far behind the stretch. What
 * was looked at for some of them need not be looked at for the others. Numbers take a quarter of the
 * memory of a map of bigints.
 */
export class NextChanges {
  readonly #stretch: Stretch;
  /** Of each row of the stretch, the number of its first change. */
  readonly #firsts = new Map<number, number>();
  #count = 0;
  /** By the number of a change: the halves of the id of its plant, and the place of the next change, 0 while none is known. */
  #halves = new Int32Array(2 * ROOM);
  #nexts = new Float64Array(ROOM);
  /** A hash table, at most half full: the last change of each plant, by its number plus 1. A hole is 0. */
  #lasts = new Int32Array(2 * ROOM);
  /** At random: no one can choose ids that fall into one place. */
  readonly #factors = crypto.getRandomValues(new Int32Array(2)).map((factor) => factor | 1);
  /** The row to look at next. */
  from: number;
  /** Someone waits for what it will find. */
  isUnderWay = false;

  constructor(stretch: Stretch) {
    this.#stretch = stretch;
    this.from = stretch.low;
  }

  covers({ number, low, high }: Stretch): boolean {
    return this.#stretch.number === number && this.#stretch.low <= low && high <= this.#stretch.high;
  }

  /** The memory that it takes, but for some bytes of each row. */
  get bytes(): number {
    return this.#halves.byteLength + this.#nexts.byteLength + this.#lasts.byteLength;
  }

  /** Looks at the row `from`, or at a later one if those between are gone. */
  look({ seq, ids, import: number }: LookedRow): void {
    const { high, number: wanted } = this.#stretch;
    const isOurs = seq <= high && number === wanted;
    const halves = new Int32Array(fromIds(ids).buffer);
    const count = halves.length / 2;
    if (isOurs) {
      this.#firsts.set(seq, this.#count);
      while (this.#count + count > this.#nexts.length) this.#grow();
    }
    for (let index = 0; index < count; index += 1) {
      const [first, second] = [halves[2 * index]!, halves[2 * index + 1]!];
      const slot = this.#slotOf(first, second);
      const last = this.#lasts[slot]! - 1;
      if (last >= 0 && this.#nexts[last] === 0) this.#nexts[last] = seq * INDEXES + index;
      if (!isOurs) continue;
      this.#halves[2 * this.#count] = first;
      this.#halves[2 * this.#count + 1] = second;
      this.#count += 1;
      this.#lasts[slot] = this.#count;
    }
    this.from = seq + 1;
  }

  /** Whether a row was looked at. One that is no longer kept was not. */
  has(seq: number): boolean {
    return this.#firsts.has(seq);
  }

  /** The next change of the plant of a change. Undefined if there is none, or none yet. */
  nextOf({ seq, index }: ChangePlace): ChangePlace | undefined {
    const next = this.#nexts[this.#firsts.get(seq)! + index];
    return next ? { seq: Math.floor(next / INDEXES), index: next % INDEXES } : undefined;
  }

  /** Where the last change of a plant is, or the hole for it. */
  #slotOf(first: number, second: number): number {
    const mask = this.#lasts.length - 1;
    const hash = Math.imul(first, this.#factors[0]!) + Math.imul(second, this.#factors[1]!);
    for (let slot = hash >>> Math.clz32(mask); ; slot = (slot + 1) & mask) {
      const last = this.#lasts[slot]! - 1;
      if (last < 0 || (this.#halves[2 * last] === first && this.#halves[2 * last + 1] === second)) return slot;
    }
  }

  #grow(): void {
    const [halves, nexts] = [this.#halves, this.#nexts];
    this.#halves = new Int32Array(2 * halves.length);
    this.#halves.set(halves);
    this.#nexts = new Float64Array(2 * nexts.length);
    this.#nexts.set(nexts);
    this.#lasts = new Int32Array(2 * this.#lasts.length);
    for (let number = 0; number < this.#count; number += 1)
      this.#lasts[this.#slotOf(halves[2 * number]!, halves[2 * number + 1]!)] = number + 1;
  }
}

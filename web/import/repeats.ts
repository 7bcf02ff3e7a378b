import type { NewPlant } from "../../src/domain/plant.ts";

/** How a row repeats the id of an earlier one of the file. */
export type Repeat = Readonly<{
  /** The position of the first row with this id. */
  first: number;
  isSameAsFirst: boolean;
  isSameAsLast: boolean;
}>;

/** Finds rows that have the id of an earlier one. */
export type Repeats = Readonly<{ see: (plant: NewPlant, row: number) => Repeat | undefined }>;

/** Where the search for an id begins. */
const SLOTS_MIN = 1 << 10;

/**
 * A table of the ids of a file, 40 bytes for each, because a Map of a million of them takes five times as much.
 * Contents are compared by a hash of 32 bits: this only predicts what the service decides.
 */
export function findRepeats(): Repeats {
  let ids = new BigInt64Array(SLOTS_MIN);
  /** The first rows with them, counted from 1; 0 is a free place. */
  let rows = new Uint32Array(SLOTS_MIN);
  let firsts = new Uint32Array(SLOTS_MIN);
  let lasts = new Uint32Array(SLOTS_MIN);
  let count = 0;
  /** Of this file alone: nobody can choose ids that all have one place. */
  const secret = crypto.getRandomValues(new Uint32Array(1))[0]!;

  function placeOf(id: bigint): number {
    const mask = ids.length - 1;
    const low = Number(BigInt.asUintN(32, id));
    const high = Number(BigInt.asUintN(32, id >> 32n));
    let at = mix(mix(low ^ secret) ^ high);
    for (at &= mask; rows[at] !== 0 && ids[at] !== id; at = (at + 1) & mask);
    return at;
  }

  function grow(): void {
    const former = { ids, rows, firsts, lasts };
    const size = ids.length * 2;
    ids = new BigInt64Array(size);
    rows = new Uint32Array(size);
    firsts = new Uint32Array(size);
    lasts = new Uint32Array(size);
    former.rows.forEach((row, at) => {
      if (row === 0) return;
      const place = placeOf(former.ids[at]!);
      ids[place] = former.ids[at]!;
      rows[place] = row;
      firsts[place] = former.firsts[at]!;
      lasts[place] = former.lasts[at]!;
    });
  }

  return {
    see({ id, name, tag }, row) {
      const content = tag === undefined ? hash(name) : mix(hash(name) ^ mix(hash(tag) + 1)) >>> 0;
      const at = placeOf(id);
      const known = rows[at]!;
      if (known !== 0) {
        const repeat = { first: known - 1, isSameAsFirst: firsts[at] === content, isSameAsLast: lasts[at] === content };
        lasts[at] = content;
        return repeat;
      }
      ids[at] = id;
      rows[at] = row + 1;
      firsts[at] = lasts[at] = content;
      count += 1;
      if (count * 2 > ids.length) grow();
      return undefined;
    },
  };
}

/** Another number of 32 bits for each, in which every bit depends on all (MurmurHash3, fmix32). */
function mix(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

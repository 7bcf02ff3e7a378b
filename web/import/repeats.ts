import type { NewPlant } from "../../src/plant.ts";

/** How a row repeats the id of an earlier one of the file. */
export type Repeat = Readonly<{
  /** The line of the first row with this id. */
  line: number;
  isSameAsFirst: boolean;
  isSameAsLast: boolean;
}>;

/** Finds rows that have the id of an earlier one. */
export type Repeats = Readonly<{ see: (plant: NewPlant, line: number) => Repeat | undefined }>;

/** Where the search for an id begins. */
const SLOTS_MIN = 1 << 10;

/**
 * A table of the ids of a file, 40 bytes for each, because a Map of a million of them takes five times as much.
 * Contents are compared by a hash of 32 bits: this only foretells what the service decides.
 */
export function findRepeats(): Repeats {
  let ids = new BigInt64Array(SLOTS_MIN);
  /** Lines count from 1; 0 is a free place. */
  let lines = new Uint32Array(SLOTS_MIN);
  let firsts = new Uint32Array(SLOTS_MIN);
  let lasts = new Uint32Array(SLOTS_MIN);
  let count = 0;

  function placeOf(id: bigint): number {
    const mask = ids.length - 1;
    // The low half of a product with a large odd number spreads ids that follow each other.
    let at = Math.imul(Number(BigInt.asIntN(32, id ^ (id >> 32n))), 0x9e3779b1) >>> 0;
    for (at = (at ^ (at >>> 15)) & mask; lines[at] !== 0 && ids[at] !== id; at = (at + 1) & mask);
    return at;
  }

  function grow(): void {
    const former = { ids, lines, firsts, lasts };
    const size = ids.length * 2;
    ids = new BigInt64Array(size);
    lines = new Uint32Array(size);
    firsts = new Uint32Array(size);
    lasts = new Uint32Array(size);
    former.lines.forEach((line, at) => {
      if (line === 0) return;
      const place = placeOf(former.ids[at]!);
      ids[place] = former.ids[at]!;
      lines[place] = line;
      firsts[place] = former.firsts[at]!;
      lasts[place] = former.lasts[at]!;
    });
  }

  return {
    see({ id, name, tag }, line) {
      const content = hash(tag === undefined ? name : `${name}\0${tag}`);
      const at = placeOf(id);
      const first = lines[at]!;
      if (first !== 0) {
        const repeat = { line: first, isSameAsFirst: firsts[at] === content, isSameAsLast: lasts[at] === content };
        lasts[at] = content;
        return repeat;
      }
      ids[at] = id;
      lines[at] = line;
      firsts[at] = lasts[at] = content;
      count += 1;
      if (count * 2 > ids.length) grow();
      return undefined;
    },
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

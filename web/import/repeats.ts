import type { NewPlant } from "../../src/domain/plant.ts";

export type Repeat = Readonly<{
  /** The position of the first row with this id. */
  first: number;
  isSameAsFirst: boolean;
  isSameAsLast: boolean;
}>;

/** Where the search for an id begins. */
const SLOTS_MIN = 1 << 10;

/**
 * A table of the ids of a file, 40 bytes for each, because a Map of a million of them takes five times as much.
 * Contents are compared by a hash of 32 bits: this only predicts what the service decides.
 */
function createTable(slots: number) {
  const numbers = () => new Uint32Array(slots);
  /** `rows`: the first ones with them, counted from 1; 0 is a free place. */
  return { ids: new BigInt64Array(slots), rows: numbers(), firsts: numbers(), lasts: numbers() };
}

export function findRepeats(): Readonly<{ see: (plant: NewPlant, row: number) => Repeat | undefined }> {
  let table = createTable(SLOTS_MIN);
  let count = 0;
  /** Of this file alone: no one can choose ids that all have one place. */
  const secret = crypto.getRandomValues(new Uint32Array(1))[0]!;

  function placeOf(id: bigint): number {
    const { ids, rows } = table;
    const mask = ids.length - 1;
    const low = Number(BigInt.asUintN(32, id));
    const high = Number(BigInt.asUintN(32, id >> 32n));
    let at = mix(mix(low ^ secret) ^ high);
    for (at &= mask; rows[at] !== 0 && ids[at] !== id; at = (at + 1) & mask);
    return at;
  }

  function put(id: bigint, row: number, [first, last]: readonly [number, number]): void {
    const at = placeOf(id);
    table.ids[at] = id;
    table.rows[at] = row;
    table.firsts[at] = first;
    table.lasts[at] = last;
  }

  return {
    see({ id, name, tag }, row) {
      const content = tag === undefined ? hash(name) : mix(hash(name) ^ mix(hash(tag) + 1)) >>> 0;
      const at = placeOf(id);
      const known = table.rows[at]!;
      if (known !== 0) {
        const repeat = { first: known - 1, isSameAsFirst: table.firsts[at] === content, isSameAsLast: table.lasts[at] === content };
        table.lasts[at] = content;
        return repeat;
      }
      put(id, row + 1, [content, content]);
      count += 1;
      if (count * 2 <= table.ids.length) return undefined;
      const { ids, rows, firsts, lasts } = table;
      table = createTable(ids.length * 2);
      for (const [place, first] of rows.entries()) if (first !== 0) put(ids[place]!, first, [firsts[place]!, lasts[place]!]);
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

/** Lengths of the prefixes that the index stores as if they were words, in characters. */
export const PREFIX_LENGTHS = [1, 3, 5] as const;

/** Half of a character that takes two units. */
const SURROGATE = /[\ud800-\udfff]/;

/** The first characters of a word, in code points. */
export function startOf(word: string, length: number): string {
  const head = word.slice(0, length);
  return SURROGATE.test(head) ? Array.from(word).slice(0, length).join("") : head;
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export type Random = () => number;

export function openRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0 up to the end, which is excluded. */
export function below(random: Random, end: number): number {
  return Math.trunc(random() * end);
}

/** One of these, all equally likely. */
export function pick<Choice>(random: Random, choices: readonly Choice[]): Choice {
  return choices[below(random, choices.length)]!;
}

/** The seed of a random test: a different one each time, unless TEST_SEED has that of the run to repeat. */
export function seedOf(what: string): number {
  const seed = Number(process.env["TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
  console.log(`${what}: seed ${seed} (set TEST_SEED to repeat)`);
  return seed;
}

/** The parts between bars. A line of the text may end after a bar. */
export function partsOf(text: string): string[] {
  return text.split(/\|(?:\n +)?/);
}

/** 11 digits are the most that Excel shows, and writes into CSV, without an exponent. */
const ID_MIN = 10_000_000_000n;
const IDS = 90_000_000_000n;

/**
 * A random id of 11 digits, for a plant that has none: short enough to be read out, and to survive a spreadsheet. Most
 * likely nobody has it: with a million plants, one in 90,000 does.
 */
export function makeId(): bigint {
  const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return ID_MIN + (random % IDS);
}

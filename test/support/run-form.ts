// How tests are run: ../main.ts says it in a variable.

export const FORM = "TEST_FORM";

const form = process.env[FORM];

/**
 * What differs between the forms of a test: how often, how long, how many. The promise is the same. The night is the
 * middle one; the long one takes two hours; the one of a change takes some seconds.
 */
export function inForm<Value>(night: Value, long: Value, change = night): Value {
  return form === "long" ? long : form === "night" ? night : change;
}

/** Prints what was measured, for docs/explanation/promises.md. */
export function tell(promise: string, figures: string | Readonly<Record<string, unknown>>): void {
  const round = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toFixed(2)) : value);
  console.log(`figure: ${promise}: ${typeof figures === "string" ? figures : JSON.stringify(figures, round)}`);
}

/** They measure time or memory, so each has the machine for itself, after all others. */
export const ALONE = [
  "fairness/event-loop.night.ts",
  "resilience/beside-backup.night.ts",
  "resilience/overload.night.ts",
  "resilience/slow-clients.night.ts",
  "resilience/soak.night.ts",
  "resilience/tokens.night.ts",
  "source/mutants.night.ts",
];

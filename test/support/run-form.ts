// How the resilience tests are run: ../main.ts tells them by a variable.

/** The variable by which test/main.ts tells the tests which form to run. */
export const FORM = "TEST_FORM";

/** Whether this is the long form, which takes two hours, or the short one for every change. */
const isLong = process.env[FORM] === "long";

/** What differs between the two forms: how often, how long, how many. The promise is the same. */
export function inForm<Value>(short: Value, long: Value): Value {
  return isLong ? long : short;
}

/** Prints what was measured, for docs/explanation/promises.md. */
export function tell(promise: string, figures: string): void {
  console.log(`figure: ${promise}: ${figures}`);
}

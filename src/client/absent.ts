import { ServiceError } from "./errors.ts";
import type { ErrorNumber } from "./errors.ts";

/** Undefined in the place of the answer that nothing has this id, which has this number. Any other 404 is about the url. */
export async function orAbsent<Result>(answer: Promise<Result>, absent: ErrorNumber): Promise<Result | undefined> {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.error === absent) return undefined;
    throw thrown;
  }
}

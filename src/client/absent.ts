import { ServiceError } from "./errors.ts";
import type { ErrorNumber } from "./errors.ts";

/** Turns the error `absent`, which says that nothing has this id, into undefined. Any other 404 is about the URL. */
export async function orAbsent<Result>(result: Promise<Result>, absent: ErrorNumber): Promise<Result | undefined> {
  try {
    return await result;
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.error === absent) return undefined;
    throw thrown;
  }
}

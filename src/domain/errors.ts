import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";

export type ErrorCode = keyof typeof CATALOGUE;

/**
 * An expected failure. Everything else that is thrown is a bug: the response is 500, and its text goes only into the
 * log. It has no stack trace: its code is enough, and under overload collecting one would be most of what a refusal
 * costs.
 */
export class PlantStoreError extends Error {
  readonly code: ErrorCode;
  /** Headers that the response needs besides the usual ones, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: { message?: string; headers?: Record<string, string>; cause?: unknown } = {}) {
    const message = options.message ?? CATALOGUE[code].message;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "PlantStoreError";
    this.code = code;
    this.headers = options.headers ?? {};
  }

  /** The error number in the contract: the status times 100, plus n. */
  get number(): number {
    return CATALOGUE[this.code].error;
  }

  get status(): number {
    return Math.trunc(this.number / 100);
  }
}

export function invalidQuery(message: string): PlantStoreError {
  return new PlantStoreError("invalid_query", { message });
}

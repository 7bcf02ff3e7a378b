import { CATALOGUE } from "../contract/generated/error-catalogue.ts";

export type ErrorCode = keyof typeof CATALOGUE;

/**
 * An expected failure. Every other throw is a bug: answered 500, its text kept for the log. It has no stack: its code
 * says all, and to gather one for every refusal would be most of its cost when there is too much to do.
 */
export class PlantStoreError extends Error {
  readonly code: ErrorCode;
  /** Headers that the answer must carry beside the usual ones, such as `Allow`. */
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

  /** The number of the interface: status times 100, plus a number of its own. */
  get number(): number {
    return CATALOGUE[this.code].error;
  }

  get status(): number {
    return Math.trunc(this.number / 100);
  }
}

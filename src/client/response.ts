import { ServiceError, UnexpectedAnswerError } from "./errors.ts";
import { parseFields, parseJson } from "./json.ts";

/** A complete, successful response. `body` is its parsed JSON, undefined if it is empty. */
export type ParsedResponse = Readonly<{ status: number; headers: Headers; body: unknown }>;

type ResponseReader<Result> = Readonly<{ isRepeatable: boolean; parse: (response: ParsedResponse) => Result }>;

/**
 * Reads a whole response. Throws a ServiceError for an error of the service, an UnexpectedAnswerError for what is not
 * Plant Store's.
 */
export async function readResponse<Result>(response: Response, { isRepeatable, parse }: ResponseReader<Result>): Promise<Result> {
  const text = await response.text();
  if (!response.ok) throw toError(response, text, isRepeatable);
  try {
    return parse({ status: response.status, headers: response.headers, body: text === "" ? undefined : parseJson(text) });
  } catch (cause) {
    throw toUnexpected(response, isRepeatable, cause);
  }
}

/** Reads the response to a deletion: true. Throws a TypeError if it is not one: an empty page of a proxy looks much alike. */
export function parseDeleted({ status }: ParsedResponse): true {
  if (status !== NO_CONTENT) throw new TypeError("not the response to a deletion");
  return true;
}

const NO_CONTENT = 204;

/** A header that the interface promises. Throws a TypeError if it is missing. */
export function requiredHeader(headers: Headers, name: string): string {
  const text = headers.get(name);
  if (text === null) throw new TypeError(`no header ${name}`);
  return text;
}

function toError(response: Response, text: string, isRepeatable: boolean): Error {
  const { status, headers } = response;
  try {
    const { error, message } = parseFields(parseJson(text));
    if (typeof error === "number" && typeof message === "string" && Math.trunc(error / 100) === status) {
      const requestId = headers.get("x-request-id") ?? undefined;
      return new ServiceError({ message, isRepeatable, status, error, requestId, retryAfterMs: retryAfterMs(headers) });
    }
    return toUnexpected(response, isRepeatable);
  } catch (cause) {
    return toUnexpected(response, isRepeatable, cause);
  }
}

function toUnexpected(response: Response, isRepeatable: boolean, cause?: unknown): UnexpectedAnswerError {
  const { status, headers } = response;
  const details = { isRepeatable, status, retryAfterMs: retryAfterMs(headers), cause };
  // A browser hides a redirect: its status is 0 and its headers are gone.
  if (status === 0 || (status >= 300 && status < 400)) {
    const target = headers.get("location");
    return new UnexpectedAnswerError({
      ...details,
      message: `The url redirects${target === null ? "" : ` to ${target}`}: use the address it leads to.`,
    });
  }
  const what = `status ${status}, content type ${headers.get("content-type") ?? "unknown"}`;
  return new UnexpectedAnswerError({
    ...details,
    message: `The response is not Plant Store's (${what}): check the url and any proxy in between.`,
  });
}

/** Reads a part of a response that streams. Throws an UnexpectedAnswerError with this message if that fails. */
export function orUnexpected<Result>(message: string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new UnexpectedAnswerError({ message, isRepeatable: true, status: OK, cause });
  }
}

const OK = 200;

/** The wait that Retry-After asks for, given in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

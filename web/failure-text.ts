import { ConnectionError, FileFormatError, ServiceError, TimeoutError, UnexpectedAnswerError } from "../src/client/client.ts";

/** What went wrong, as a sentence for people: the service's own where it has one. */
export function failureText(thrown: unknown): string {
  if (thrown instanceof ServiceError) return thrown.status === 500 ? `${thrown.message} (${thrown.requestId ?? "no id"})` : thrown.message;
  if (thrown instanceof ConnectionError) return "The service cannot be reached: check the connection, then try again.";
  if (thrown instanceof TimeoutError) return "The service took too long to respond: try again.";
  if (thrown instanceof UnexpectedAnswerError || thrown instanceof FileFormatError) return thrown.message;
  return `Something broke in this page: reload it and try again. (${String(thrown)})`;
}

/** Whether somebody called it off, which is no failure. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

/** Whether the same may well work in a moment. */
export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof ConnectionError || thrown instanceof TimeoutError) return true;
  return (thrown instanceof ServiceError || thrown instanceof UnexpectedAnswerError) && [429, 502, 503, 504].includes(thrown.status);
}

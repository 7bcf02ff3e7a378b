import { ConnectionError, ERROR_NUMBERS, ServiceError, TimeoutError, UnexpectedAnswerError } from "../src/client/page-client.ts";
import { SignedOutError } from "./catalogue/catalogue-fetch.ts";

/** What the page sends in each request, or the service in each response, did not come through. */
const ALTERED = "Something on the way to the service alters what is sent: tell its operator.";

/** What programs are told in their words, in those of people; the others are for both. */
const TEXTS: Readonly<Record<number, string>> = {
  [ERROR_NUMBERS.invalid_unicode]: "The name or the tag has a broken letter: type it again.",
  [ERROR_NUMBERS.invalid_query]: "The service cannot search for this: use fewer or other words.",
  [ERROR_NUMBERS.unclear_encoding]: "The encoding of the file is not clear: choose it.",
  [ERROR_NUMBERS.missing_token]: ALTERED,
  [ERROR_NUMBERS.invalid_token]: "The service does not accept this token: it is mistyped, has expired or was revoked.",
  [ERROR_NUMBERS.plant_not_found]: "This plant no longer exists: someone deleted it.",
  [ERROR_NUMBERS.token_not_found]: "This token no longer exists.",
  [ERROR_NUMBERS.id_in_use]: "Another plant has this id: choose another one.",
  [ERROR_NUMBERS.precondition_failed]: "Someone changed it in the meantime: look at it, then try again.",
  [ERROR_NUMBERS.upgrade_required]: "A proxy may truncate files without an error: tell its operator.",
  [ERROR_NUMBERS.body_too_large]: "The name and the tag are too long: shorten them.",
  [ERROR_NUMBERS.too_many_requests]: "Too many requests came from here: try again in a moment.",
  [ERROR_NUMBERS.overloaded]: "The service is overloaded: try again in a moment.",
  [ERROR_NUMBERS.store_unavailable]: "The service cannot reach its store: try again in a moment.",
  [ERROR_NUMBERS.store_full]: "The disk of the service is full: tell its operator.",
  [ERROR_NUMBERS.draining]: "The service is restarting: try again in a moment.",
  [ERROR_NUMBERS.index_building]: "The search is not ready yet: try again in a moment.",
};

const LACKS: readonly (readonly [string, string])[] = [
  ["plants:read", "Your token may not see plants: sign in with one that may."],
  ["plants:write", "Your token may only read: sign in with one that may change plants."],
  ["admin", "Your token may not manage tokens: sign in with one that may."],
];

/** What went wrong, as a sentence for people. */
export function failureText(thrown: unknown): string {
  if (thrown instanceof ServiceError) return serviceText(thrown);
  if (thrown instanceof ConnectionError) return "The service cannot be reached: check the connection, then try again.";
  if (thrown instanceof TimeoutError) return "The service took too long to respond: try again.";
  if (thrown instanceof UnexpectedAnswerError) return unexpectedText(thrown);
  if (thrown instanceof SignedOutError) return "You signed out before it was finished.";
  if (thrown instanceof Error && REFUSALS.includes(thrown.name)) return thrown.message;
  if (thrown instanceof DOMException && UNREADABLE.includes(thrown.name))
    return "It is a folder, or the file was moved or changed meanwhile: choose a file again.";
  return `Something broke in this page: reload it and try again. (${String(thrown)})`;
}

/** Of files. Their classes are part of the import, which has all messages about them. */
const REFUSALS: readonly string[] = ["PlantStoreError", "TableError"];

/** What a browser throws when it cannot read a file (W3C File API, 7.1). */
const UNREADABLE: readonly string[] = ["NotFoundError", "NotReadableError"];

/** The same for what is still open: it is read after a new sign-in too, when the token is a good one. */
export function retryText(thrown: unknown): string {
  const isTokenBad = thrown instanceof ServiceError && thrown.error === ERROR_NUMBERS.invalid_token;
  return isTokenBad ? "This was not done because you were signed out: try again." : failureText(thrown);
}

/** 511 is that of a network such as a school's (RFC 6585, 6). */
const WANTS_SIGN_IN: readonly number[] = [401, 403, 511];

function unexpectedText({ status, cause }: UnexpectedAnswerError): string {
  const why = cause instanceof TypeError ? cause.message : "";
  if (why.startsWith("This browser")) return why;
  if (why.startsWith("no header")) return `${ALTERED} A change may still have been stored.`;
  // A proxy that wants a new sign-in redirects to it, or sends its page. Going there in this tab loses what is open.
  const advice =
    status < 400 || WANTS_SIGN_IN.includes(status) ? ", such as the sign-in of a proxy: open this page in another tab, then" : ":";
  return `Something else responded instead of the service (${status})${advice} try again.`;
}

function serviceText({ error, message, status, requestId }: ServiceError): string {
  if (status === 500) return `The service failed: tell its operator the number ${requestId ?? "of this minute"}, then try again.`;
  const lacks = error === ERROR_NUMBERS.insufficient_scope ? LACKS.find(([scope]) => message.includes(scope))?.[1] : undefined;
  const altered = error === ERROR_NUMBERS.precondition_failed && message.includes("proxy") ? ALTERED : undefined;
  return lacks ?? altered ?? TEXTS[error] ?? message;
}

/** Whether someone called it off, which is no failure. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

/** Whether the same may well work in a moment. */
export function isTransient(thrown: unknown): boolean {
  if (thrown instanceof ConnectionError || thrown instanceof TimeoutError) return true;
  return (thrown instanceof ServiceError || thrown instanceof UnexpectedAnswerError) && [429, 502, 503, 504].includes(thrown.status);
}

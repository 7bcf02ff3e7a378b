import { describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { ConnectionError, ServiceError, TimeoutError, UnexpectedAnswerError } from "../../src/client/client.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { failureText, isPassing } from "../../web/failure-text.ts";

/** What is wrong with a request that the page never sends, or with a file, whose words these are. */
const OF_PROGRAMS: readonly ErrorCode[] = [
  ...(["malformed_json", "nested_too_deep", "duplicate_key", "invalid_body", "incomplete_body", "invalid_host"] as const),
  ...(["malformed_request", "invalid_idempotency_key", "idempotency_key_reused", "unknown_path", "method_not_allowed"] as const),
  ...(["unsupported_media_type", "unsupported_charset", "unsupported_encoding", "head_too_large", "unknown_method"] as const),
  ...(["unsupported_version", "invalid_csv_header", "malformed_row", "missing_body", "malformed_gzip", "too_slow"] as const),
];

/** Words of the interface. */
const TECHNICAL = /`|\b(body|bearer|header|scope|HTTP|JSON|Retry-After|query|parameter|If-Match|status|index|store\.)\b/i;

function refusal(error: number, message: string): ServiceError {
  const status = Math.trunc(error / 100);
  return new ServiceError({ message, error, status, isRepeatable: true, requestId: "abc", retryAfterMs: undefined });
}

describe("the page says in its own words", () => {
  for (const [code, { error, message }] of Object.entries(CATALOGUE)) {
    if (OF_PROGRAMS.includes(code as ErrorCode)) continue;
    it(`what ${code} means`, () => {
      expect(failureText(refusal(error, message))).not.toMatch(TECHNICAL);
    });
  }

  for (const { scope, text } of [
    { scope: "plants:read", text: "Your token may not see plants" },
    { scope: "plants:write", text: "Your token may only read" },
    { scope: "admin", text: "Your token may not manage tokens" },
  ]) {
    it(`what a token without ${scope} may not do`, () => {
      const { error } = CATALOGUE.insufficient_scope;
      expect(failureText(refusal(error, `The token lacks the scope ${scope}: use one that has it.`))).toStartWith(text);
    });
  }

  it("that something else responded, or nothing", () => {
    const details = { message: "The response is not Plant Store's (status 502): check the url.", isRepeatable: true };
    for (const thrown of [
      new UnexpectedAnswerError({ ...details, status: 502 }),
      new UnexpectedAnswerError({ ...details, status: 200 }),
      new ConnectionError(details),
      new TimeoutError({ ...details, limitMs: 1 }),
    ])
      expect(failureText(thrown)).not.toMatch(/url|response|header/i);
  });
});

it("what may well work in a moment is tried again, and nothing else", () => {
  const details = { message: "", isRepeatable: true };
  const { too_many_requests: many, overloaded, internal, id_in_use: taken } = CATALOGUE;
  expect([many, overloaded, internal, taken].map(({ error }) => isPassing(refusal(error, "")))).toEqual([true, true, false, false]);
  expect([502, 504, 200, 404].map((status) => isPassing(new UnexpectedAnswerError({ ...details, status })))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(isPassing(new ConnectionError(details))).toBe(true);
  expect(isPassing(new TimeoutError({ ...details, limitMs: 1 }))).toBe(true);
  expect(isPassing(new TypeError("Broken."))).toBe(false);
});

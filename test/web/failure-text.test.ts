import { describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { ConnectionError, createClient, ServiceError, TimeoutError, UnexpectedAnswerError } from "../../src/client/client.ts";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { failureText, isTransient, retryText } from "../../web/failure-text.ts";
import { rejectionOf } from "../support/rejection.ts";

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

describe("the page", () => {
  for (const [code, { error, message }] of Object.entries(CATALOGUE)) {
    if (OF_PROGRAMS.includes(code as ErrorCode)) continue;
    it(`says in its own words what ${code} means`, () => {
      expect(failureText(refusal(error, message))).not.toMatch(TECHNICAL);
    });
  }

  for (const { scope, text } of [
    { scope: "plants:read", text: "Your token may not see plants" },
    { scope: "plants:write", text: "Your token may only read" },
    { scope: "admin", text: "Your token may not manage tokens" },
  ]) {
    it(`says what a token without ${scope} may not do`, () => {
      const { error } = CATALOGUE.insufficient_scope;
      expect(failureText(refusal(error, `The token lacks the scope ${scope}: use one that has it.`))).toStartWith(text);
    });
  }

  const html = (status: number) => new Response("<h1>Sign in</h1>", { status, headers: { "content-type": "text/html" } });
  const another = "Something else responded instead of the service";
  const ofProxy = "such as the sign-in of a proxy: open this page in another tab, then try again.";
  const altered = "Something on the way to the service alters what is sent: tell its operator.";
  for (const { what, answer, text } of [
    { what: "a proxy wants a sign-in, with 401", answer: () => html(401), text: `${another} (401), ${ofProxy}` },
    {
      what: "a proxy wants a sign-in, with JSON",
      answer: () => Response.json({ error: "invalid_token" }, { status: 401 }),
      text: `${another} (401), ${ofProxy}`,
    },
    { what: "a proxy blocks the request", answer: () => html(403), text: `${another} (403), ${ofProxy}` },
    { what: "a network wants a sign-in", answer: () => html(511), text: `${another} (511), ${ofProxy}` },
    { what: "a sign-in comes in the place of the service", answer: () => html(200), text: `${another} (200), ${ofProxy}` },
    { what: "a proxy has no service behind it", answer: () => html(502), text: `${another} (502): try again.` },
    {
      what: "the token is taken away",
      answer: () => Response.json({ error: CATALOGUE.missing_token.error, message: "" }, { status: 401 }),
      text: altered,
    },
    {
      what: "the ETag is taken away",
      answer: () => Response.json({ id: 1, name: "Acer" }),
      text: `${altered} A change may still have been stored.`,
    },
    { what: "nothing comes", answer: () => undefined, text: "The service cannot be reached: check the connection, then try again." },
  ])
    it(`says in its own words that ${what} on the way to the service`, async () => {
      const fetch = () => {
        const response = answer();
        return response ? Promise.resolve(response) : Promise.reject(new TypeError("Failed to fetch"));
      };
      const client = createClient({ url: "http://plants.example", token: "plant_x", retries: 0, fetch });
      expect(failureText(await rejectionOf(client.put({ id: 1n, name: "Acer" }, {})))).toBe(text);
    });
});

it("what was not done as no one was signed in any more is said without a word of the token", () => {
  const { error, message } = CATALOGUE.invalid_token;
  expect(retryText(refusal(error, message))).toBe("This was not done because you were signed out: try again.");
});

it("what may well work in a moment is tried again, and nothing else", () => {
  const details = { message: "", isRepeatable: true };
  const { too_many_requests: many, overloaded, internal, id_in_use: taken } = CATALOGUE;
  expect([many, overloaded, internal, taken].map(({ error }) => isTransient(refusal(error, "")))).toEqual([true, true, false, false]);
  expect([502, 504, 200, 404].map((status) => isTransient(new UnexpectedAnswerError({ ...details, status })))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(isTransient(new ConnectionError(details))).toBe(true);
  expect(isTransient(new TimeoutError({ ...details, limitMs: 1 }))).toBe(true);
  expect(isTransient(new TypeError("Broken."))).toBe(false);
});

import { afterAll, describe, expect, it } from "bun:test";
import { loadContract } from "../../src/domain/contract.ts";
import type { Operation } from "../../src/domain/contract.ts";
import { startTestService } from "../support/service.ts";

// Refused input never comes back in any form: otherwise an attacker who makes a victim send a request could choose what
// the victim sees.

const service = await startTestService();
afterAll(() => service.stop());

const MARKER = "zq7marker";

/** The marker inside text that a page, a log or a terminal could take for more than text. */
const HOSTILE = [
  MARKER,
  `<script>${MARKER}</script>`,
  `"},{"error":0,"message":"${MARKER}"}`,
  `=cmd|'${MARKER}'!A1`,
  `${MARKER}.[0].constructor`,
  `\u202e${MARKER}\u0000\u001b[31m`,
  `${MARKER}\r\nset-cookie: ${MARKER}`,
  `%00${MARKER}%0d%0a`,
  `$ref ${MARKER} {{7*7}}`,
  `ﬀ🌿${MARKER}e\u0301`,
];

type Sent = Readonly<{ method?: string; path?: string; headers?: Record<string, string>; body?: string }>;

/** Headers allow no line ends and nothing beyond Latin-1. */
const inHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, "");

const encoded = encodeURIComponent;

/** Where a request can hold text for which it is refused. */
const PLACES: Readonly<Record<string, (text: string, operation: Operation) => Sent>> = {
  "the path": (text, { path }) => ({ path: `${path}/${encoded(text)}` }),
  "the id in the path": (text, { path }) => ({ path: `/${path.split("/")[1]}/${encoded(text)}+` }),
  "the method": (_text, { path }) => ({ path, method: "PURGE" }),
  "the name of a parameter": (text, { path }) => ({ path: `${path}?${encoded(text)}=1` }),
  "the value of a parameter": (text, { path, query }) => ({
    path: `${path}?${query[0]?.name ?? "x"}=${encoded(text)}&format=${encoded(text)}`,
  }),
  "a parameter that is given twice": (text, { path }) => ({ path: `${path}?q=${encoded(text)}&q=${encoded(text)}` }),
  "a broken query": (text, { path }) => ({ path: `${path}?${encoded(text)}=%ff` }),
  "the token": (text, { path }) => ({ path, headers: { authorization: `Bearer ${inHeader(text)}` } }),
  "the scheme of the token": (text, { path }) => ({ path, headers: { authorization: inHeader(text) } }),
  "the type of the body": (text, { path }) => ({ path, headers: { "content-type": `text/${inHeader(text)}` }, body: "{}" }),
  "the charset of the body": (text, { path }) => ({
    path,
    headers: { "content-type": `application/json; charset=x${inHeader(text)}` },
    body: "{}",
  }),
  "the coding of the body": (text, { path }) => ({ path, headers: { "content-encoding": inHeader(text) }, body: "{}" }),
  "a condition": (text, { path }) => ({ path, headers: { "if-match": `"${inHeader(text)}"` }, body: '{"name":"x"}' }),
  "a malformed request id": (text, { path }) => ({ path: `${path}?x`, headers: { "x-request-id": `${inHeader(text)} /` } }),
  "any other header": (text, { path }) => ({
    path: `${path}?x`,
    headers: { "x-forwarded-for": inHeader(text), "user-agent": inHeader(text), origin: inHeader(text) },
  }),
  "text that is not JSON": (text, { path }) => ({ path, body: text }),
  // The plain name of an unknown field is repeated: unknown-fields.test.ts.
  "a key": (text, { path }) => ({ path, body: JSON.stringify({ [text === MARKER ? `.${text}` : text]: 1 }) }),
  "a duplicate key": (text, { path }) => ({ path, body: `{${JSON.stringify(text)}:1,${JSON.stringify(text)}:2}` }),
  "a value where a number belongs": (text, { path }) => ({ path, body: JSON.stringify({ id: text, name: "x", scopes: [], days: text }) }),
  "a value where text belongs": (text, { path }) => ({
    path,
    body: JSON.stringify({ id: 1, name: [text], tag: { [text]: text }, scopes: text }),
  }),
  "a value where one of a few belongs": (text, { path }) => ({ path, body: JSON.stringify({ name: "x", scopes: [text] }) }),
  "a name of 100,000 characters": (text, { path }) => ({ path, body: JSON.stringify({ name: text.padEnd(100_000) }) }),
};

const { operations } = loadContract();

/** The statuses of the refusals: each kind must occur. */
const met = new Set<number>();

async function expectSilent({ path = "/", ...init }: Sent): Promise<void> {
  const response = await service.request(path.replace("{id}", "1"), init);
  const text = await response.text();
  if (response.status < 400) return;
  met.add(response.status);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(`${[...response.headers].join("\n")}\n${text}`.toLowerCase()).not.toContain(MARKER);
}

describe("a refusal repeats nothing of", () => {
  for (const [place, request] of Object.entries(PLACES)) {
    it(place, async () => {
      for (const operation of operations) {
        const { method, body } = operation;
        for (const text of HOSTILE) {
          const { body: given, ...sent } = request(text, operation);
          await expectSilent({ method, ...sent, ...(given === undefined || body.kind === "none" ? {} : { body: given }) });
        }
      }
    });
  }

  it("the lines of an import, which answers 200 and lists the refused ones", async () => {
    for (const text of HOSTILE) {
      const lines = [text.replaceAll(/[\r\n]/g, ""), JSON.stringify({ id: text, name: "x" }), JSON.stringify({ [text]: 1 })];
      const rows = [`x${text.replaceAll(/["\r\n,]/g, "")},b`, `"${text}`];
      for (const [type, body] of [
        ["application/x-ndjson", lines.join("\n")],
        ["text/csv", ["id,name", ...rows].join("\n")],
      ] as const) {
        const response = await service.request("/plants/import", { method: "POST", headers: { "content-type": type }, body });
        const answer = await response.text();
        expect(response.status).toBe(200);
        expect(answer).toContain('"problems":[{"line":');
        expect(answer.toLowerCase()).not.toContain(MARKER);
      }
    }
  });

  it("any of these, in refusals of every kind", () => {
    expect([...met].toSorted((left, right) => left - right)).toEqual([400, 401, 404, 405, 412, 413, 415, 501]);
  });
});

import type { ChangeOutcome } from "../../../src/client/client.ts";
import { abortAfter, answer, chunks, drop, stayStill } from "./faulty-server.ts";
import type { Fault } from "./faulty-server.ts";
import type { Call, Troubles } from "./trouble.ts";

const PLANT = { id: 1n, name: "Ficus" };
const CHANGES = [1n, 2n, 3n, 4n].map((id) => ({ from: undefined, to: { id, name: "Ficus" } }));
const FOUND = '{"plant":{"id":"1","name":"Ficus"},"etag":"\\"x\\""}';
const INVALID = "UnexpectedAnswerError 200 repeatable with a cause";
const UNKNOWN = "ConnectionError unknown with a cause";
const good = answer(200, { id: 1, name: "Ficus" });
const other = answer(200, { id: 2, name: "Ficus" });
const busy = answer(503, { error: 50300, message: "Busy." }, { "retry-after": "0", "x-request-id": "r1" });
const htmlPage = "<html>Bad gateway</html>";

const find: Call = (plants) => plants.find(1n);
const findText: Call = (plants) => plants.find(1n).catch(String);
const create: Call = (plants) => plants.create(PLANT);
const putSeen: Call = (plants) => plants.put(PLANT, { ifMatch: '"x"' });
const patch: Call = (plants) => plants.patch(1n, { name: "Ficus" });
const remove: Call = (plants) => plants.remove(1n);
const change: Call = (plants) => kinds(plants.change(CHANGES));

/** The same call on a connection that was used before. */
function afterFind(call: Call): Call {
  return async (plants, server) => {
    await plants.find(1n);
    return call(plants, server);
  };
}

/** What the call gives, and whether it took as long as this, or longer. */
function takes(leastMs: number, call: Call): Call {
  return async (plants, server) => {
    const startedAt = performance.now();
    return [await call(plants, server), performance.now() - startedAt >= leastMs];
  };
}

/** Responses that are missing or wrong. */
export const requestTroubles: Troubles = {
  "503 twice, then the plant": [[busy, busy, good], find, FOUND, { requests: 3 }],
  "503 again and again": [[busy], find, "ServiceError 503 50300 r1 0 repeatable", { requests: 3, options: { retries: 2 } }],
  "503 that asks for a second": [
    [answer(503, { error: 50303, message: "Draining." }, { "retry-after": "1" }), good],
    takes(1000, create),
    `[${FOUND},true]`,
    { requests: 2 },
  ],
  "503 that asks for more time than is left": [
    [answer(503, { error: 50302, message: "Full." }, { "retry-after": "3600", "x-request-id": "r2" })],
    create,
    "ServiceError 503 50302 r2 3600000 repeatable",
  ],
  "a page of a proxy with 502, then the plant": [[answer(502, htmlPage), good], find, FOUND, { requests: 2 }],
  "a create whose connection breaks": [[drop, good], create, FOUND, { requests: 2 }],
  "a put with If-Match whose connection breaks": [[drop, good], putSeen, UNKNOWN],
  "a put with If-None-Match that is answered 503": [
    [busy, good],
    (plants) => plants.put(PLANT, { ifNoneMatch: "*" }),
    "ServiceError 503 50300 r1 0 unknown",
  ],
  "a remove on a connection that was used before, and breaks": [
    [losesSecond(answer(404, { error: 40401, message: "None." }))],
    afterFind(remove),
    UNKNOWN,
    { requests: "any" },
  ],
  // Its idempotency key makes the second response equal to the first.
  "a new token whose response is lost": [
    [drop, answer(200, { id: "a", name: "x", scopes: ["admin"], created: "then", token: "secret" })],
    (plants) => plants.createToken({ name: "x", scopes: ["admin"] }),
    '{"id":"a","name":"x","scopes":["admin"],"created":"then","token":"secret"}',
    { requests: 2 },
  ],
  "an invalid list of tokens": [
    [answer(200, [{ id: "a", name: "x", scopes: "admin", created: "" }])],
    (plants) => plants.listTokens(),
    INVALID,
  ],
  "a bug of the service": [
    [answer(500, { error: 50000, message: "Broken." }, { "x-request-id": "r3" }), good],
    find,
    "ServiceError 500 50000 r3 undefined repeatable",
  ],
  "a try without a response, then the plant": [[stayStill, good], find, FOUND, { requests: 2, options: { tryTimeoutMs: 2000 } }],
  "a body that stalls": [
    [chunks(["["], { type: "application/json", end: "wait" })],
    (plants) => plants.page(),
    "TimeoutError 2000 repeatable with a cause",
    { options: { tryTimeoutMs: 2000, retries: 0 } },
  ],
  "an add without a response, which takes no longer than a call may": [
    [stayStill],
    takes(7900, (plants) => plants.add({ name: "Ficus" }).catch((reason: Error) => reason.name)),
    '["TimeoutError",false]',
    { requests: "any", options: { timeoutMs: 4000 } },
  ],
  "no response within the time of the call": [
    [stayStill],
    patch,
    "TimeoutError 2000 unknown with a cause",
    { options: { timeoutMs: 2000 } },
  ],
  "an empty 200 instead of the answer to a remove": [[answer(200, "")], remove, "UnexpectedAnswerError 200 unknown with a cause"],
  "another plant than the one that is looked for": [[other], find, INVALID],
  "another plant than the one that is changed": [[other], patch, "UnexpectedAnswerError 200 unknown with a cause"],
  "a response that is cut off": [
    [answer(200, '{"id":1,"name":"Ficus"}', { "content-length": "100" })],
    find,
    "ConnectionError repeatable with a cause",
    { options: { retries: 0 } },
  ],
  "a port without a listener": [
    [stayStill],
    async (plants, server) => {
      await server.stop();
      return plants.find(1n);
    },
    "ConnectionError repeatable with a cause",
    { requests: 0, options: { retries: 1 } },
  ],
  "an abort while it waits for the next try": [
    [answer(503, { error: 50300, message: "Busy." }, { "retry-after": "10" })],
    (plants, server) => plants.find(1n, { signal: abortAfter(server, 300) }),
    "Error: enough",
  ],
  "many changes, of which some fail for a moment": [
    [outcomes([1, "changed"], [2, "failed"], [3, "conflict"], [4, "failed"]), drop, outcomes([2, "same"], [4, "changed"])],
    change,
    '"changed same, maybe by us, conflict changed"',
    { requests: 3 },
  ],
  "many changes, of which some fail each time": [
    [outcomes([1, "changed"], [2, "failed"], [3, "same"], [4, "failed"]), drop],
    change,
    '"changed failed 50300 same failed 50300"',
    { requests: 3, options: { retries: 2 } },
  ],
  "many changes and the outcomes of others": [[outcomes([1, "changed"], [2, "changed"], [4, "changed"], [3, "changed"])], change, INVALID],
  "many changes that are too large together for this service": [
    [
      answer(413, { error: 41300, message: "Too large." }),
      outcomes([1, "changed"], [2, "changed"]),
      outcomes([3, "changed"], [4, "changed"]),
    ],
    change,
    '"changed changed changed changed"',
    { requests: 3 },
  ],
  "a page of HTML instead of a plant": [
    [answer(200, htmlPage, { "content-type": "text/html" })],
    findText,
    '"UnexpectedAnswerError: The response is not Plant Store\'s (status 200, content type text/html): check the url and any proxy in between."',
  ],
  "the 404 of another program": [[answer(404, { error: "Not found" })], find, "UnexpectedAnswerError 404 repeatable"],
  "the 404 of a wrong path": [
    [answer(404, { error: 40400, message: "There is nothing at this path." })],
    find,
    "ServiceError 404 40400 undefined undefined repeatable",
  ],
  "a redirect": [
    [answer(307, "", { location: "/elsewhere" }), good],
    findText,
    '"UnexpectedAnswerError: The url redirects to /elsewhere: use the address it leads to."',
  ],
  "a list whose next page is the same page": [
    [answer(200, [{ id: 5, name: "Ficus" }], { link: '</plants?after=5>; rel="next"' })],
    (plants) => Array.fromAsync(plants.list()),
    INVALID,
    { requests: 2 },
  ],
  "an id that is not a bigint": [
    [good],
    (plants) => plants.find(1 as never),
    "TypeError: The id is a number: give a bigint, such as 1n.",
    { requests: 0 },
  ],
  "a place in a list that has been rounded": [
    [],
    (plants) => plants.page({ after: (2 ** 53) as never }),
    "RangeError: after is a number that has been rounded: give a bigint, such as 1n.",
    { requests: 0 },
  ],
  "dots as the id of a token": [
    [],
    (plants) => plants.revokeToken(".."),
    "TypeError: .. is no id of a token: give one that listTokens returns.",
    { requests: 0 },
  ],
  "an id outside int64": [
    [good],
    (plants) => plants.create({ id: 2n ** 63n, name: "Ficus" }),
    "RangeError: The id is outside int64: give a whole number from -2^63 to 2^63-1.",
    { requests: 0 },
  ],
};

/**
 * Answers the first request with a plant, and keeps the connection; loses the response to the second one, on whatever
 * connection it comes; `last` answers all that follow.
 */
function losesSecond(last: Fault): Fault {
  let asked = 0;
  function next(socket: Parameters<Fault>[0]): void {
    asked += 1;
    if (asked === 1) socket.write('HTTP/1.1 200 OK\r\netag: "x"\r\ncontent-length: 23\r\n\r\n{"id":1,"name":"Ficus"}');
    else (asked === 2 ? drop : last)(socket);
  }
  return (socket) => {
    next(socket);
    socket.on("data", () => next(socket));
  };
}

/** The response to changes: the outcome of each id. */
function outcomes(...all: ReadonlyArray<readonly [id: number, outcome: string]>): Fault {
  return answer(200, {
    outcomes: all.map(([id, outcome]) => ({ id, outcome, ...(outcome === "failed" ? { error: 50300, message: "Busy." } : {}) })),
  });
}

async function kinds(all: AsyncIterable<ChangeOutcome>): Promise<string> {
  const found: string[] = [];
  for await (const outcome of all) found.push(kind(outcome));
  return found.join(" ");
}

function kind(outcome: ChangeOutcome): string {
  if (outcome.kind === "failed") return `failed ${outcome.error}`;
  return outcome.kind === "same" && outcome.isRetried ? "same, maybe by us," : outcome.kind;
}

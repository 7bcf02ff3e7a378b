import type { ChangeOutcome } from "../../../src/client/client.ts";
import { abortAfter, answer, chunks, drop, stayStill } from "./faulty-server.ts";
import type { Fault } from "./faulty-server.ts";
import type { Troubles } from "./trouble.ts";

const PLANT = { id: 1n, name: "Ficus" };
const CHANGES = [1n, 2n, 3n, 4n].map((id) => ({ from: undefined, to: { id, name: "Ficus" } }));
const FOUND = '{"plant":{"id":"1","name":"Ficus"},"etag":"\\"x\\""}';
const good = answer(200, { id: 1, name: "Ficus" });
const busy = answer(503, { error: 50300, message: "Busy." }, { "retry-after": "0", "x-request-id": "r1" });
const htmlPage = "<html>Bad gateway</html>";

/** Responses that are missing or wrong. */
export const requestTroubles: Troubles = {
  "503 twice, then the plant": {
    faults: [busy, busy, good],
    call: (plants) => plants.find(1n),
    outcome: FOUND,
    requests: 3,
  },
  "503 for ever": {
    faults: [busy],
    options: { retries: 2 },
    call: (plants) => plants.find(1n),
    outcome: "ServiceError 503 50300 r1 0 repeatable",
    requests: 3,
  },
  "503 that asks for a second": {
    faults: [answer(503, { error: 50303, message: "Draining." }, { "retry-after": "1" }), good],
    async call(plants) {
      const startedAt = performance.now();
      await plants.create(PLANT);
      return performance.now() - startedAt >= 1000;
    },
    outcome: "true",
    requests: 2,
  },
  "503 that asks for more time than is left": {
    faults: [answer(503, { error: 50302, message: "Full." }, { "retry-after": "3600", "x-request-id": "r2" })],
    call: (plants) => plants.create(PLANT),
    outcome: "ServiceError 503 50302 r2 3600000 repeatable",
  },
  "a page of a proxy with 502, then the plant": {
    faults: [answer(502, htmlPage), good],
    call: (plants) => plants.find(1n),
    outcome: FOUND,
    requests: 2,
  },
  "a create whose connection breaks": {
    faults: [drop, good],
    call: (plants) => plants.create(PLANT),
    outcome: FOUND,
    requests: 2,
  },
  "a put without a condition whose connection breaks": {
    faults: [drop, good],
    call: (plants) => plants.put(PLANT),
    outcome: FOUND.replace(/}$/, ',"isNew":false}'),
    requests: 2,
  },
  "a put with If-Match whose connection breaks": {
    faults: [drop, good],
    call: (plants) => plants.put(PLANT, { ifMatch: '"x"' }),
    outcome: "ConnectionError unknown with a cause",
  },
  "a put with If-None-Match that is answered 503": {
    faults: [busy, good],
    call: (plants) => plants.put(PLANT, { ifNoneMatch: "*" }),
    outcome: "ServiceError 503 50300 r1 0 unknown",
  },
  "a patch whose connection breaks": {
    faults: [drop, good],
    call: (plants) => plants.patch(1n, { name: "Ficus" }),
    outcome: "ConnectionError unknown with a cause",
  },
  "a remove on a connection that was used before, and breaks": {
    faults: [losesSecond(answer(404, { error: 40401, message: "None." }))],
    async call(plants) {
      await plants.find(1n);
      return plants.remove(1n);
    },
    outcome: "ConnectionError unknown with a cause",
    requests: "any",
  },
  "a put with If-Match on a connection that was used before, and breaks": {
    faults: [losesSecond(answer(412, { error: 41200, message: "Changed." }))],
    async call(plants) {
      await plants.find(1n);
      return plants.put(PLANT, { ifMatch: '"x"' });
    },
    outcome: "ConnectionError unknown with a cause",
    requests: "any",
  },
  "a remove that is answered 503": {
    faults: [busy, good],
    call: (plants) => plants.remove(1n),
    outcome: "ServiceError 503 50300 r1 0 unknown",
  },
  "a new token whose response is lost": {
    // Its idempotency key makes the second response equal to the first.
    faults: [drop, answer(200, { id: "a", name: "x", scopes: ["admin"], created: "then", token: "secret" })],
    call: (plants) => plants.createToken({ name: "x", scopes: ["admin"] }),
    outcome: '{"id":"a","name":"x","scopes":["admin"],"created":"then","token":"secret"}',
    requests: 2,
  },
  "a revocation that is answered 503, then done": {
    faults: [busy, answer(204, "")],
    call: (plants) => plants.revokeToken("a"),
    outcome: "true",
    requests: 2,
  },
  "an invalid list of tokens": {
    faults: [answer(200, [{ id: "a", name: "x", scopes: "admin", created: "" }])],
    call: (plants) => plants.listTokens(),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "a list of tokens that leads to itself": {
    faults: [answer(200, [], { link: '<?cursor=a>; rel="next"' })],
    call: (plants) => plants.listTokens(),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
    requests: 2,
  },
  "a bug of the service": {
    faults: [answer(500, { error: 50000, message: "Broken." }, { "x-request-id": "r3" }), good],
    call: (plants) => plants.find(1n),
    outcome: "ServiceError 500 50000 r3 undefined repeatable",
  },
  "a try without a response, then the plant": {
    faults: [stayStill, good],
    options: { tryTimeoutMs: 2000 },
    call: (plants) => plants.find(1n),
    outcome: FOUND,
    requests: 2,
  },
  "a body that stalls": {
    faults: [chunks(["["], { type: "application/json", end: "wait" })],
    options: { tryTimeoutMs: 2000, retries: 0 },
    call: (plants) => plants.page(),
    outcome: "TimeoutError 2000 repeatable with a cause",
  },
  "an add without a response, which takes no longer than a call may": {
    faults: [stayStill],
    options: { timeoutMs: 4000 },
    async call(plants) {
      const startedAt = performance.now();
      const thrown = await plants.add({ name: "Ficus" }).catch((reason: Error) => reason.name);
      return [thrown, performance.now() - startedAt < 7900];
    },
    outcome: '["TimeoutError",true]',
    requests: "any",
  },
  "no response within the time of the call": {
    faults: [stayStill],
    options: { timeoutMs: 2000 },
    call: (plants) => plants.patch(1n, {}),
    outcome: "TimeoutError 2000 unknown with a cause",
  },
  "an empty 200 instead of the answer to a remove": {
    faults: [answer(200, "")],
    call: (plants) => plants.remove(1n),
    outcome: "UnexpectedAnswerError 200 unknown with a cause",
  },
  "an empty 200 instead of the answer to a revocation": {
    faults: [answer(200, "")],
    call: (plants) => plants.revokeToken("a"),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "another plant than the one that is looked for": {
    faults: [answer(200, { id: 2, name: "Ficus" })],
    call: (plants) => plants.find(1n),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "another plant than the one that is put": {
    faults: [answer(200, { id: 2, name: "Ficus" })],
    call: (plants) => plants.put(PLANT),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "another plant than the one that is changed": {
    faults: [answer(200, { id: 2, name: "Ficus" })],
    call: (plants) => plants.patch(1n, { name: "Ficus" }),
    outcome: "UnexpectedAnswerError 200 unknown with a cause",
  },
  "a response that is cut off": {
    faults: [answer(200, '{"id":1,"name":"Ficus"}', { "content-length": "100" })],
    options: { retries: 0 },
    call: (plants) => plants.find(1n),
    outcome: "ConnectionError repeatable with a cause",
  },
  "a port without a listener": {
    faults: [stayStill],
    options: { retries: 1 },
    async call(plants, server) {
      await server.stop();
      return plants.find(1n);
    },
    outcome: "ConnectionError repeatable with a cause",
    requests: 0,
  },
  "an abort while it waits for the next try": {
    faults: [answer(503, { error: 50300, message: "Busy." }, { "retry-after": "10" })],
    call: (plants, server) => plants.find(1n, { signal: abortAfter(server, 300) }),
    outcome: "Error: enough",
  },
  "an abort while it waits for the response": {
    faults: [stayStill],
    call: (plants, server) => plants.find(1n, { signal: abortAfter(server, 300) }),
    outcome: "Error: enough",
  },
  "many changes, of which some fail for a moment": {
    faults: [outcomes([1, "changed"], [2, "failed"], [3, "conflict"], [4, "failed"]), drop, outcomes([2, "same"], [4, "changed"])],
    call: (plants) => kinds(plants.change(CHANGES)),
    outcome: '"changed same, maybe by us, conflict changed"',
    requests: 3,
  },
  "many changes, of which some fail for ever": {
    faults: [outcomes([1, "changed"], [2, "failed"], [3, "same"], [4, "failed"]), drop],
    options: { retries: 2 },
    call: (plants) => kinds(plants.change(CHANGES)),
    outcome: '"changed failed 50300 same failed 50300"',
    requests: 3,
  },
  "many changes and no service": {
    faults: [drop],
    options: { retries: 1 },
    call: (plants) => kinds(plants.change(CHANGES)),
    outcome: "ConnectionError repeatable with a cause",
    requests: 2,
  },
  "many changes and fewer outcomes": {
    faults: [outcomes([1, "changed"])],
    call: (plants) => kinds(plants.change(CHANGES)),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "many changes and the outcomes of others": {
    faults: [outcomes([1, "changed"], [2, "changed"], [4, "changed"], [3, "changed"])],
    call: (plants) => kinds(plants.change(CHANGES)),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "many changes that are too large together for this service": {
    faults: [
      answer(413, { error: 41300, message: "Too large." }),
      outcomes([1, "changed"], [2, "changed"]),
      outcomes([3, "changed"], [4, "changed"]),
    ],
    call: (plants) => kinds(plants.change(CHANGES)),
    outcome: '"changed changed changed changed"',
    requests: 3,
  },
  "a page of HTML instead of a plant": {
    faults: [answer(200, htmlPage, { "content-type": "text/html" })],
    call: (plants) => plants.find(1n).catch((thrown: unknown) => String(thrown)),
    outcome:
      '"UnexpectedAnswerError: The response is not Plant Store\'s (status 200, content type text/html): check the url and any proxy in between."',
  },
  "the 404 of another program": {
    faults: [answer(404, { error: "Not found" })],
    call: (plants) => plants.find(1n),
    outcome: "UnexpectedAnswerError 404 repeatable",
  },
  "the 404 of another program that has numbers too": {
    faults: [answer(404, { error: 1, message: "Not found" })],
    call: (plants) => plants.find(1n),
    outcome: "UnexpectedAnswerError 404 repeatable",
  },
  "the 404 of a wrong path": {
    faults: [answer(404, { error: 40400, message: "There is nothing at this path." })],
    call: (plants) => plants.find(1n),
    outcome: "ServiceError 404 40400 undefined undefined repeatable",
  },
  "a redirect": {
    faults: [answer(307, "", { location: "/elsewhere" }), good],
    call: (plants) => plants.find(1n).catch((thrown: unknown) => String(thrown)),
    outcome: '"UnexpectedAnswerError: The url redirects to /elsewhere: use the address it leads to."',
  },
  "a list whose next page is the same page": {
    faults: [answer(200, [{ id: 5, name: "Ficus" }], { link: '</plants?after=5>; rel="next"' })],
    call: (plants) => Array.fromAsync(plants.list()),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
    requests: 2,
  },
  "an id that is not a bigint": {
    faults: [good],
    call: (plants) => plants.find(1 as never),
    outcome: "TypeError: The id is a number: give a bigint, such as 1n.",
    requests: 0,
  },
  "a place in a list that has been rounded": {
    faults: [],
    call: (plants) => plants.page({ after: (2 ** 53) as never }),
    outcome: "RangeError: after is a number that has been rounded: give a bigint, such as 1n.",
    requests: 0,
  },
  "dots as the id of a token": {
    faults: [],
    call: (plants) => plants.revokeToken(".."),
    outcome: "TypeError: .. is no id of a token: give one that listTokens returns.",
    requests: 0,
  },
  "an id outside int64": {
    faults: [good],
    call: (plants) => plants.create({ id: 2n ** 63n, name: "Ficus" }),
    outcome: "RangeError: The id is outside int64: give a whole number from -2^63 to 2^63-1.",
    requests: 0,
  },
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

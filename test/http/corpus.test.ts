import { afterAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { checkHost } from "../../src/http/host.ts";
import { CORPUS } from "../corpus.ts";
import type { Entry } from "../corpus.ts";
import { sendRaw, statusesIn } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import { understand } from "../support/understand.ts";

const PLANT = '{"id":1,"name":"Ficus"}';
/** What follows a request: it must be understood only where the end of that is clear. */
const BEHIND = "GET /behind HTTP/1.1\r\nHost: plants\r\n\r\n";

function nameOf({ what, source, comes, isLast }: Entry): string {
  return `${isLast ? "refuses" : "understands"} ${what}: ${comes} (${source})`;
}

/** What the parser and the check of the host make of packets, and whether what follows is understood. */
async function outcomeOf(packets: readonly string[]): Promise<Readonly<{ error?: string | undefined; body?: string; behind?: unknown }>> {
  const { requests, refusal } = await understand(packets);
  const [first, behind] = requests;
  if (!first) return { error: refusal };
  try {
    checkHost(first);
  } catch (thrown) {
    return { error: (thrown as PlantStoreError).code };
  }
  return { error: refusal, body: first.body, behind: behind?.path };
}

describe("the parser, wherever its input is cut,", () => {
  // That a body is too large is found only when it is read.
  for (const entry of CORPUS.filter(({ comes }) => comes !== "body_too_large"))
    it(nameOf(entry), async () => {
      const { packets, comes, isLast } = entry;
      const text = packets(PLANT, "token").join("") + BEHIND;
      const half = Math.trunc(text.length / 2);
      for (const pieces of [[text], [text.slice(0, half), text.slice(half)], Array.from(text)]) {
        const { body, ...outcome } = await outcomeOf(pieces);
        expect(outcome).toEqual(isLast ? { error: comes } : { error: undefined, behind: "/behind" });
        if (comes === "created") expect(body).toBe(PLANT);
      }
    });
});

const LIMIT = 20_000;
const service = await startTestService();
const small = await startTestService({ bodyBytesMax: String(LIMIT) });
afterAll(() => Promise.all([service.stop(), small.stop()]));
const HEAD = `POST /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${service.token}\r\n`;

let lastId = 0;
/** The same length for all. */
function nextPlant(): { id: number; body: string } {
  lastId += 1;
  return { id: lastId, body: `{"id":${String(lastId).padStart(5, " ")},"name":"x"}` };
}

function sized(body: string): string {
  return `Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends an entry and a good create, after which the connection ends: together, or when the entry is answered. */
async function send({ packets, what }: Pick<Entry, "packets" | "what">, isTogether: boolean) {
  const [first, second] = [nextPlant(), nextPlant()];
  const pieces = packets(first.body, service.token);
  const behind = `${HEAD}Connection: close\r\n${sized(second.body)}`;
  const { text, isClosed } = await sendRaw(
    service.url,
    isTogether ? [...pieces.slice(0, -1), pieces.at(-1)! + behind] : [...pieces, behind],
  );
  const errors = Array.from(text.matchAll(/"error":(\d+)/g), ([, error]) => Number(error));
  const statuses = statusesIn(text).map((status): number | string => (status < 300 ? "done" : status));
  return { what, ids: [first.id, second.id], statuses, errors, isClosed };
}

/** What the service must answer, and which of the two plants it must store. */
function wantedOf({ comes, isLast }: Entry) {
  const errors: number[] = comes === "created" || comes === "answered" ? [] : [CATALOGUE[comes].error];
  const [first = "done"]: (number | string)[] = errors.map((error) => Math.trunc(error / 100));
  return { statuses: isLast ? [first] : [first, "done"], errors, stored: [comes === "created", !isLast] };
}

async function storedIds(): Promise<Set<number>> {
  const lines = (await (await service.request("/plants/export", { headers: { accept: "application/x-ndjson" } })).text()).trim();
  return new Set(lines.split("\n").map((line) => (JSON.parse(line) as { id: number }).id));
}

describe("the service", () => {
  for (const isTogether of [true, false])
    it(`answers each request of the corpus as it must, and executes a create ${isTogether ? "in the same packet" : "sent after its answer"} only if the end of the request is clear`, async () => {
      const seen = [];
      for (let at = 0; at < CORPUS.length; at += 16)
        seen.push(...(await Promise.all(CORPUS.slice(at, at + 16).map((entry) => send(entry, isTogether)))));
      const stored = await storedIds();
      const outcomes = seen.map(({ ids, ...rest }) => ({ ...rest, stored: ids.map((id) => stored.has(id)) }));
      expect(outcomes).toEqual(CORPUS.map((entry) => ({ what: entry.what, isClosed: true, ...wantedOf(entry) })));
    });

  it("answers CONNECT with 404, and executes nothing after it", async () => {
    const packets = () => ["CONNECT plants:80 HTTP/1.1\r\nHost: plants\r\n\r\n"];
    for (const isTogether of [true, false]) expect((await send({ what: "", packets }, isTogether)).statuses).toEqual([404]);
  });

  it("asks a client that waits for 100 to send its body", async () => {
    const [head, rest] = `${HEAD}Expect: 100-continue\r\nConnection: close\r\n${sized(nextPlant().body)}`.split(/(?<=\r\n\r\n)/);
    expect(statusesIn((await sendRaw(service.url, [head!, rest!])).text)).toEqual([100, 200]);
  });

  it("does not ask a client for its body that it refuses by its head", async () => {
    const head = `${HEAD.replace(service.token, "x")}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`;
    // It may send the next request instead of its body: nothing after such a head counts as either.
    const { text, isClosed } = await sendRaw(service.url, [head, BEHIND, BEHIND, BEHIND]);
    expect([statusesIn(text), isClosed]).toEqual([[401], true]);
  });
});

describe(`a limit of ${LIMIT} bytes`, () => {
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  for (const [framing, framed] of [
    ["with a length", sized],
    ["with its length twice", (body) => `Content-Length: ${body.length}\r\n${sized(body)}`],
    ["in one chunk", (body) => `Transfer-Encoding: chunked\r\n\r\n${chunk(body)}0\r\n\r\n`],
    ["in two chunks", (body) => `Transfer-Encoding: chunked\r\n\r\n${chunk(body.slice(0, 9000))}${chunk(body.slice(9000))}0\r\n\r\n`],
  ] as ReadonlyArray<[string, (body: string) => string]>)
    it(`refuses a body of one byte more, and no shorter one, ${framing}`, async () => {
      const statuses: number[] = [];
      for (const length of [LIMIT - 1, LIMIT, LIMIT + 1]) {
        const head = `${HEAD.replace(service.token, small.token)}Connection: close\r\n`;
        const { text } = await sendRaw(small.url, [head + framed(nextPlant().body.padEnd(length))]);
        statuses.push(...statusesIn(text));
      }
      expect(statuses).toEqual([200, 200, 413]);
      expect((await small.request(`/plants/${lastId}`)).status).toBe(404);
    });
});

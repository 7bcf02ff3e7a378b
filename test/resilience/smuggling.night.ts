import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { sendRaw, statusesIn } from "../support/raw-http.ts";
import { readToken } from "../support/service.ts";
import { startNaiveFront } from "../support/smuggling/front.ts";
import { CODED, HEAD, inChunks, REFUSED, sized, TOKEN, UNKNOWN } from "../support/smuggling/malformed.ts";
import type { Framing } from "../support/smuggling/malformed.ts";
import { tell } from "../support/run-form.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import { UNUSUAL } from "../support/smuggling/unusual.ts";

/** A service, what is in front of it, if anything, and a token that may create plants there. */
type Target = Readonly<{ url: string; front?: string; token: string }>;

const BODY_BYTES_MAX = 20_000;
/** RFC 9112 leaves it to the server; this is the runtime's. */
const HEAD_BYTES_MAX = 16_384;
const HEADERS_MAX = 198;
/** A refused connection is closed at once; this is for a busy machine. */
const CLOSE_MS_MAX = 2000;
const AT_A_TIME = 8;

let target: Target;
let lastId = 0;

beforeAll(async () => {
  target = await open();
});
afterAll(killServices);

async function open(root?: string): Promise<Target> {
  const data = temporaryFolder();
  const service = await startService({
    data,
    flags: [...PATIENT, "--body-bytes-max", String(BODY_BYTES_MAX)],
    ...(root === undefined ? {} : { root }),
  });
  return { url: service.url, token: await readToken(data) };
}

function nextPlant(): { id: number; body: string } {
  lastId += 1;
  // The same length for all, with two digits, so that each case says what it seems to.
  return { id: lastId, body: `{"id":${String(lastId).padStart(5, " ")},"name":"x"}` };
}

function withToken(text: string, { token }: Target): string {
  return text.replaceAll(TOKEN, token);
}

async function isStored({ url, token }: Target, id: number): Promise<boolean> {
  const response = await fetch(`${url}/plants/${id}`, { headers: { authorization: `Bearer ${token}` } });
  return response.status === 200;
}

type Verdict = Readonly<{ why: string; statuses: readonly number[]; isClosed: boolean; isFirstStored: boolean; isSecondStored: boolean }>;

/** Sends a case, then a good create: in one packet, or after a response to the case or its timeout. */
async function judge(to: Target, framing: Framing, isOnePacket: boolean): Promise<Verdict> {
  const [first, second] = [nextPlant(), nextPlant()];
  const packets = [framing.bytes(first.body), `${HEAD}${sized(second.body)}`].map((text) => withToken(text, to));
  const { text, isClosed } = await sendRaw(to.front ?? to.url, isOnePacket ? [packets.join("")] : packets, { waitMs: CLOSE_MS_MAX });
  const [isFirstStored, isSecondStored] = await Promise.all([isStored(to, first.id), isStored(to, second.id)]);
  return {
    why: `${framing.why}, ${isOnePacket ? "at once" : "then"}`,
    statuses: statusesIn(text),
    isClosed,
    isFirstStored,
    isSecondStored,
  };
}

async function judgeAll(to: Target, framings: readonly Framing[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let at = 0; at < framings.length; at += AT_A_TIME) {
    const some = framings.slice(at, at + AT_A_TIME).flatMap((framing) => [judge(to, framing, true), judge(to, framing, false)]);
    verdicts.push(...(await Promise.all(some)));
  }
  return verdicts;
}

function isRefused({ statuses, isClosed, isFirstStored, isSecondStored }: Verdict): boolean {
  const isRefusal = statuses.length > 0 && statuses.every((status) => (status >= 400 && status < 500) || status === 505);
  return isRefusal && isClosed && !isFirstStored && !isSecondStored;
}

describe("a request that is not HTTP", () => {
  it("is refused with 4xx or 505 and its connection closed, and neither it nor the good create after it is executed", async () => {
    const verdicts = await judgeAll(target, REFUSED);
    expect(verdicts.filter((verdict) => !isRefused(verdict))).toEqual([]);
    expect(REFUSED.length).toBeGreaterThan(200);
    expect(await isStored(target, lastId)).toBe(false);
    tell(
      "smuggling",
      `${REFUSED.length} malformed requests, each sent with a good create after it in one packet and in two: no second one executed`,
    );
  });

  it("with an unknown method is answered 501 and its connection closed, and nothing after it is executed", async () => {
    const verdicts = await judgeAll(target, UNKNOWN);
    for (const { why, ...verdict } of verdicts)
      expect([why, verdict]).toEqual([why, { statuses: [501], isClosed: true, isFirstStored: false, isSecondStored: false }]);
  });

  it("would be noticed if the service did not check the Host", async () => {
    const bug = { file: "src/http/app.ts", from: "checkHost(request);", to: "" };
    const hosts = REFUSED.filter(({ why }) => why.startsWith("Host: two"));
    expect(hosts.length).toBeGreaterThan(4);
    const verdicts = await judgeAll(await open(plantBugs([bug])), hosts);
    expect(verdicts.filter((verdict) => isRefused(verdict))).toEqual([]);
    expect(verdicts.some(({ isSecondStored }) => isSecondStored)).toBe(true);
  });

  it("would be noticed behind a front that accepts any length and ignores a coding", async () => {
    const front = await startNaiveFront(target.url);
    const wrong = REFUSED.filter(({ why }) => /^a length that is signed|^a coding that comes/.test(why));
    const verdicts = await judgeAll({ ...target, front }, wrong);
    const smuggled = verdicts.filter(({ isSecondStored }) => isSecondStored).map(({ why }) => why);
    for (const why of ["a length that is signed with a plus", "a coding that comes with the length 0"]) {
      expect(smuggled).toContain(`${why}, at once`);
      expect(smuggled).toContain(`${why}, then`);
    }
  });
});

describe("a request in an unusual form", () => {
  it("is understood exactly, and so is the one after it", async () => {
    expect(UNUSUAL.length).toBeGreaterThan(40);
    const verdicts = await Promise.all(UNUSUAL.map((framing) => judge(target, framing, false)));
    const wanted = UNUSUAL.map(({ why, statuses, isStored: isFirstStored }) => {
      return { why: `${why}, then`, statuses: [...statuses, 200], isClosed: false, isFirstStored, isSecondStored: true };
    });
    expect(verdicts).toEqual(wanted);
    tell("smuggling", `${UNUSUAL.length} unusual requests, each understood, and the request behind it`);
  });

  it("that waits for 100 gets it, then sends its body", async () => {
    const { body } = nextPlant();
    const [head, rest] = withToken(`${HEAD}Expect: 100-continue\r\nConnection: close\r\n${sized(body)}`, target).split(/(?<=\r\n\r\n)/);
    const { text } = await sendRaw(target.url, [head!, rest!], { waitMs: CLOSE_MS_MAX });
    expect(statusesIn(text)).toEqual([100, 200]);
  });

  it("that waits for 100 and is refused by its head is not asked for its body", async () => {
    const head = `${HEAD.replace(TOKEN, "x")}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`;
    // It may send the next request instead of its body: nothing after such a head counts as either.
    const behind = "GET /livez HTTP/1.1\r\nHost: plants\r\n\r\n";
    const { text, isClosed } = await sendRaw(target.url, [head, behind, behind, behind], { waitMs: CLOSE_MS_MAX });
    expect([statusesIn(text), isClosed]).toEqual([[401], true]);
  });

  it("that asks for a tunnel is answered 404, and nothing after it is executed", async () => {
    const connect: Framing = { why: "CONNECT", bytes: () => "CONNECT plants:80 HTTP/1.1\r\nHost: plants\r\n\r\n" };
    for (const verdict of await judgeAll(target, [connect])) expect(verdict).toMatchObject({ statuses: [404], isSecondStored: false });
  });
});

describe("a create after one that is not yet answered", () => {
  it("is answered after it, and stored", async () => {
    const good: Framing = { why: "good", bytes: (body) => `${HEAD}${sized(body)}` };
    for (let round = 0; round < 5; round += 1)
      expect(await judge(target, good, true)).toMatchObject({ statuses: [200, 200], isFirstStored: true, isSecondStored: true });
  });

  it("is answered if it waits for that response", async () => {
    const verdict = await judge(target, { why: "good", bytes: (body) => `${HEAD}${sized(body)}` }, false);
    expect(verdict).toMatchObject({ statuses: [200, 200], isFirstStored: true, isSecondStored: true });
  });
});

describe("the limit of a head", () => {
  const start = "GET /livez HTTP/1.1\r\nHost: plants\r\nConnection: close\r\n";

  function headOf(bytes: number): string {
    return `${start}X: ${"x".repeat(bytes - start.length - 7)}\r\n\r\n`;
  }

  for (const { why, text, status } of [
    { why: "one byte less than 16 KiB", text: headOf(HEAD_BYTES_MAX - 1), status: 200 },
    { why: "16 KiB", text: headOf(HEAD_BYTES_MAX), status: 200 },
    { why: "one byte more than 16 KiB", text: headOf(HEAD_BYTES_MAX + 1), status: 431 },
    { why: "198 headers", text: `${start}${"X: y\r\n".repeat(HEADERS_MAX - 2)}\r\n`, status: 200 },
    { why: "199 headers", text: `${start}${"X: y\r\n".repeat(HEADERS_MAX - 1)}\r\n`, status: 431 },
  ]) {
    it(`${why} is answered ${status}`, async () => {
      const { text: received, isClosed } = await sendRaw(target.url, [text]);
      expect([statusesIn(received), isClosed]).toEqual([[status], true]);
    });
  }
});

describe("the limit of a body", () => {
  for (const [over, status] of [
    [-1, 200],
    [0, 200],
    [1, 413],
  ] as const) {
    for (const { why, text } of [
      { why: "with a length", text: sized },
      { why: "with its length twice", text: (body: string) => `Content-Length: ${body.length}\r\n${sized(body)}` },
      { why: "in one chunk", text: (body: string) => CODED + inChunks(body) },
      {
        why: "in two chunks",
        text: (body: string) => CODED + inChunks(body.slice(0, 9000), "<s>\r\n<b>\r\n") + inChunks(body.slice(9000)),
      },
    ]) {
      it(`${BODY_BYTES_MAX + over} of ${BODY_BYTES_MAX} bytes ${why} is answered ${status}`, async () => {
        const { id, body } = nextPlant();
        const sent = withToken(`${HEAD}Connection: close\r\n${text(body.padEnd(BODY_BYTES_MAX + over))}`, target);
        const { text: received, isClosed } = await sendRaw(target.url, [sent]);
        expect([statusesIn(received), isClosed, await isStored(target, id)]).toEqual([[status], true, status === 200]);
      });
    }
  }
});

import { describe, expect, it } from "bun:test";
import type { HttpRequest } from "../../src/http/wire/request.ts";
import type { HttpResponse } from "../../src/http/wire/response.ts";
import { GROWTH_MAX, growthOf } from "../support/growth/growth.ts";
import { fault, hold, OK } from "../support/held-connection.ts";
import { statusesIn } from "../support/raw-http.ts";

async function readAll({ body }: HttpRequest): Promise<HttpResponse> {
  let length = 0;
  try {
    for await (const piece of body) length += piece.length;
  } catch {
    return { status: 400 };
  }
  return { status: 200, body: String(length) };
}

function never(): Promise<HttpResponse> {
  return new Promise(() => {});
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

const GET = "GET / HTTP/1.1\r\nHost: plants\r\n\r\n";

function post(length: number, fields = ""): string {
  return `POST / HTTP/1.1\r\nHost: plants\r\n${fields}Content-Length: ${length}\r\n\r\n`;
}

describe("a connection", () => {
  it("ends when its response is not read, even if the request body arrives in full", async () => {
    const held = hold({ room: 0 });
    held.say(post(10));
    await settle();
    held.say("0123456789");
    held.pass(11);
    expect(held.isGone()).toBe(true);
  });

  for (const { what, answer } of [
    { what: "throws", answer: () => fault("bug") },
    { what: "rejects", answer: () => Promise.reject(new Error("bug")) },
  ]) {
    it(`ends at once and reports a bug when its handler ${what}`, async () => {
      const bugs: unknown[] = [];
      const held = hold({ answer, onBug: (reason) => bugs.push(reason) });
      held.say(GET);
      await settle();
      expect(held.isGone()).toBe(true);
      expect(bugs).toHaveLength(1);
    });
  }

  it("ends when a body stops, however much of it came before", async () => {
    const held = hold({ answer: readAll });
    held.say(post(1_000_000));
    for (let sent = 0; sent < 900_000; sent += 50_000) {
      held.say("x".repeat(50_000));
      await settle();
    }
    held.pass(9);
    expect(held.isGone()).toBe(false);
    held.pass(2);
    expect(held.isGone()).toBe(true);
  });

  it("ends when a body does not come, even if the client was slow to read that it may send it", async () => {
    const held = hold({ room: 5, answer: readAll });
    held.say(post(10, "Expect: 100-continue\r\n"));
    await settle();
    held.take(Infinity);
    expect(held.sent()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    held.pass(11);
    expect(held.isGone()).toBe(true);
  });

  it("ends when its first request, or the rest of a later one, does not come for 10 s", () => {
    for (const text of ["", "GET", `${GET}GET`]) {
      const held = hold({ answer: () => OK });
      held.say(text);
      held.pass(9);
      expect(held.isGone()).toBe(false);
      held.pass(2);
      expect(held.isGone()).toBe(true);
    }
  });

  it("ends when its client closes its side in the middle of a head", async () => {
    const held = hold();
    held.say(`${GET}GET / HT`);
    held.receiveEnd();
    await settle();
    expect(held.sent()).toContain(" 200 ");
    expect(held.isGone()).toBe(true);
  });
});

describe("a connection", () => {
  it("stays open between two requests for longer than Envoy keeps one, which is an hour, and not much longer", () => {
    const held = hold({ answer: () => OK });
    for (let requests = 1; requests <= 2; requests += 1) {
      held.say(GET);
      held.pass(3600);
      expect(held.isGone()).toBe(false);
      expect(statusesIn(held.sent())).toHaveLength(requests);
    }
    held.pass(60);
    expect(held.isGone()).toBe(true);
  });

  it("stays open while a body waits for its reader, and not much longer", async () => {
    const reader = Promise.withResolvers<void>();
    const held = hold({ answer: (request) => reader.promise.then(() => readAll(request)) });
    held.say(post(1_000_000) + "x".repeat(200_000));
    expect(held.isPaused()).toBe(true);
    held.pass(1000);
    expect(held.isGone()).toBe(false);
    reader.resolve();
    await settle();
    expect(held.isPaused()).toBe(false);
    held.pass(11);
    expect(held.isGone()).toBe(true);
  });

  it("stays open when so much of a body was sent ahead that no more was accepted", async () => {
    const first = Promise.withResolvers<HttpResponse>();
    const answers = [() => first.promise, readAll];
    const held = hold({ answer: (request) => answers.shift()!(request) });
    held.say(GET + post(100_000) + "x".repeat(70_000));
    expect(held.isPaused()).toBe(true);
    first.resolve(OK);
    await settle();
    expect(held.isPaused()).toBe(false);
    held.say("x".repeat(30_000));
    await settle();
    expect(held.sent()).toEndWith("\r\n\r\n100000");
  });
});

it("a connection makes room for others while it waits for a request or was refused, but not while it has requests", async () => {
  const states: boolean[] = [];
  const held = hold({
    answer() {
      states.push(held.isIdle());
      return Promise.resolve(OK);
    },
  });
  held.say(GET.repeat(9));
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
  expect(states.length).toBeLessThan(9);
  expect(held.isIdle()).toBe(false);
  await settle();
  expect(states).toEqual(Array.from({ length: 9 }, () => false));
  expect(held.isIdle()).toBe(true);
  held.say("nonsense\r\n\r\n");
  await settle();
  expect(held.isIdle()).toBe(true);
});

describe("the work for input that comes a byte at a time grows no faster than the input", () => {
  const CHUNKED = "POST / HTTP/1.1\r\nHost: plants\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const { what, before, unit, length } of [
    { what: "a field of a head", before: "GET / HTTP/1.1\r\nX: ", unit: "x", length: 8000 },
    { what: "fields of a head", before: "GET / HTTP/1.1\r\n", unit: "X:\r\n", length: 8000 },
    { what: "what is sent ahead", before: GET, unit: GET, length: 32_000 },
    { what: "a body", before: post(1_000_000), unit: "x", length: 60_000 },
    { what: "chunks", before: CHUNKED, unit: "1\r\nx\r\n", length: 60_000 },
    { what: "zeros before the size of a chunk", before: CHUNKED, unit: "0", length: 2000 },
    { what: "an extension of a chunk", before: `${CHUNKED}1;`, unit: "x", length: 2000 },
    { what: "trailers", before: `${CHUNKED}0\r\n`, unit: "X: y\r\n", length: 4000 },
  ]) {
    it(what, async () => {
      const drip = (text: string) => {
        const bytes = Buffer.from(text, "latin1");
        for (let times = 0; times < 60_000 / length; times += 1) {
          const held = hold({ answer: never });
          held.say(before);
          for (let at = 0; at < bytes.length; at += 1) held.receive(bytes.subarray(at, at + 1));
        }
      };
      const textOf = (size: number) => unit.repeat(Math.ceil(size / unit.length));
      expect((await growthOf(drip, { alphabet: what, textOf }, length)).times).toBeLessThan(GROWTH_MAX);
    });
  }
});

import { afterAll, describe, expect, it } from "bun:test";
import type { Socket } from "node:net";
import { once } from "node:events";
import { STATUS_CODES } from "node:http";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { toHead } from "../../src/http/wire/response.ts";
import { openSocket, receiveAll, sendRaw, statusesIn } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const service = await startTestService();
const small = await startTestService({ connectionsMax: "8" });
afterAll(() => Promise.all([service.stop(), small.stop()]));

const HEAD = `POST /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${service.token}\r\n`;

function create(id: number): string {
  const body = `{"id":${id},"name":"Ficus"}`;
  return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
}

function read(id: number, more = ""): string {
  return `GET /plants/${id} HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${service.token}\r\n${more}\r\n`;
}

describe("requests on one connection", () => {
  it("are answered in order when they are pipelined, each with its own response", async () => {
    const ids = Array.from({ length: 50 }, (_, at) => at + 1);
    const text = ids.map((id) => create(id) + read(id)).join("") + read(1, "Connection: close\r\n");
    const { text: answers, isClosed } = await sendRaw(service.url, [text]);
    expect(statusesIn(answers)).toEqual(Array.from({ length: 101 }, () => 200));
    expect(Array.from(answers.matchAll(/\{"id":(\d+),/g), ([, id]) => Number(id))).toEqual([...ids, 1]);
    expect(isClosed).toBe(true);
  });

  it("let others have their turn when thousands are pipelined", async () => {
    const count = 20_000;
    const flood = await openSocket(service.url);
    const first = "HTTP/1.1 404 ";
    let answered = 0;
    let rest = "";
    flood.on("data", (bytes) => {
      const text = rest + bytes.toString("latin1");
      answered += text.split(first).length - 1;
      // The first line of an answer may arrive in two pieces.
      rest = text.slice(1 - first.length);
    });
    flood.write("GET /nowhere HTTP/1.1\r\nHost: plants\r\n\r\n".repeat(count));
    while (answered === 0) await Bun.sleep(1);
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    expect(answered).toBeLessThan(count / 2);
    await until("All of them are answered", () => answered === count);
    flood.destroy();
  });

  it("are all answered when their client closes its side after the last one", async () => {
    const socket = await openSocket(service.url);
    const answers = receiveAll(socket);
    socket.end(create(505) + read(505));
    expect(statusesIn(await answers)).toEqual([200, 200]);
  });

  it("are ignored after a body that breaks off", async () => {
    const socket = await openSocket(service.url);
    const answers = receiveAll(socket);
    socket.end(`${HEAD}Content-Length: 400\r\n\r\n{"id":506`);
    await answers;
    expect((await service.request("/plants/506")).status).toBe(404);
  });
});

describe("a client that is refused while it sends", () => {
  for (const { why, head, status } of [
    { why: "a body that is too large", head: HEAD, status: 413 },
    { why: "a body without a token", head: "POST /plants HTTP/1.1\r\nHost: plants\r\n", status: 401 },
    { why: "a body to nowhere", head: "POST /nowhere HTTP/1.1\r\nHost: plants\r\n", status: 404 },
    { why: "a body after what is not a request", head: "PLANT / HTTP/1.1\r\nHost: plants\r\n", status: 501 },
  ]) {
    it(`reads its response after it has sent all of ${why}, 20 times of 20`, async () => {
      const body = Buffer.alloc(4_000_000, " ");
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const socket = await openSocket(service.url);
          socket.pause();
          // It reads nothing before everything is sent.
          await new Promise((resolve) => socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`, resolve));
          const error = await new Promise((resolve) => socket.write(body, resolve));
          return error ? undefined : statusesIn(await receiveAll(socket))[0];
        }),
      );
      expect(statuses).toEqual(Array.from({ length: 20 }, () => status));
    });
  }
});

describe("connections", () => {
  it("push out the one that has waited longest when there are too many, which is logged once", async () => {
    const ask = "GET /livez HTTP/1.1\r\nHost: plants\r\n\r\n";
    const idle: Socket[] = [];
    const gone: number[] = [];
    for (let at = 0; at < 8; at += 1) {
      const socket = await openSocket(small.url);
      idle.push(socket);
      void receiveAll(socket).then(() => gone.push(at));
    }
    // The first one is no longer the one that has waited longest.
    idle[0]!.write(ask);
    await once(idle[0]!, "data");
    const newer: Socket[] = [];
    for (let more = 1; more <= 3; more += 1) {
      const socket = await openSocket(small.url);
      newer.push(socket);
      socket.write(ask);
      const [bytes] = (await once(socket, "data")) as [Buffer];
      expect(statusesIn(bytes.toString("latin1"))).toEqual([200]);
      await until("Another one is gone", () => gone.length >= more);
    }
    expect(gone).toEqual([1, 2, 3]);
    expect(small.logged.filter((line) => line.includes(`"event":"connections_full"`))).toHaveLength(1);
    for (const socket of [...idle, ...newer]) socket.destroy();
  });

  it("keep new ones out while all are busy, and go on", async () => {
    const head = `POST /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${small.token}\r\nContent-Length: 22\r\n\r\n`;
    const busy = await Promise.all(Array.from({ length: 8 }, () => openSocket(small.url)));
    for (const socket of busy) socket.write(head);
    await Bun.sleep(50);
    const turnedAway = await openSocket(small.url);
    const nothing = receiveAll(turnedAway);
    turnedAway.write("GET /livez HTTP/1.1\r\nHost: plants\r\n\r\n");
    expect(await nothing).toBe("");
    const answers = busy.map(receiveAll);
    for (const [at, socket] of busy.entries()) socket.end(`{"id":${at},"name":"Rosa"}`);
    expect((await Promise.all(answers)).map((text) => statusesIn(text)[0])).toEqual(Array.from({ length: 8 }, () => 200));
  });
});

it("the first line of a response names its status as all the world does", () => {
  const statuses = [200, 201, 204, 304, ...Object.values(CATALOGUE).map(({ error }) => Math.trunc(error / 100))];
  for (const status of statuses) {
    const head = toHead({ status }, { ending: { kind: "none" }, isKeepAlive: true, isHttp10: false, date: "" });
    expect(head.split("\r\n")[0]).toBe(`HTTP/1.1 ${status} ${STATUS_CODES[status]}`);
  }
});

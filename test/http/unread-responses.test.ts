import type { Socket } from "node:net";
import { afterAll, describe, expect, it } from "bun:test";
import { createResponseBudget } from "../../src/http/response-budget.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { openSocket } from "../support/raw-http.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

/** A connection that reads nothing is not closed, so that what is unread remains so on any machine. */
const KEPT = [{ file: "src/http/wire/timeouts.ts", from: "const SILENCE_MS = 10_000;", to: "const SILENCE_MS = 3_600_000;" }];
/** A page is one plant of the largest size with which all responses may keep as much as by default, 64 MB. */
const BODY_BYTES_MAX = 4 * 2 ** 20;
const PAGE_BYTES = 4_000_000;
/** The share of one token has room for eight pages. */
const SOCKETS = 10;
/** More than the system can buffer of a connection: the service has to keep the rest. */
const PAGES = 10;

const data = temporaryFolder();
const service = await startProcess({ data, root: plantBugs(KEPT), flags: ["--body-bytes-max", String(BODY_BYTES_MAX)] });
const first = await readToken(data);
afterAll(() => service.end("SIGKILL"));

async function ask(path: string, { token = first, ...init }: Omit<RequestInit, "headers"> & { token?: string } = {}) {
  // Compressed, a name of one repeated letter would be small.
  const response = await fetch(service.url + path, {
    ...init,
    headers: { authorization: `Bearer ${token}`, "accept-encoding": "identity" },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function askUnread(): Promise<Socket> {
  const socket = await openSocket(service.url);
  socket.pause();
  socket.write(`GET /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${first}\r\n\r\n`.repeat(PAGES));
  return socket;
}

it("unread pages count against their token: more of them get 503, small responses and other tokens' pages still work, and all work again once they are gone", async () => {
  const body = JSON.stringify({ id: 1, name: "x".repeat(PAGE_BYTES) });
  expect((await ask("/plants", { method: "POST", body })).status).toBe(200);
  const made = await ask("/tokens", { method: "POST", body: '{"name":"another","scopes":["plants:read"]}' });
  const { token } = JSON.parse(made.text) as { token: string };

  const sockets = await Promise.all(Array.from({ length: SOCKETS }, askUnread));
  let refused: Awaited<ReturnType<typeof ask>> | undefined;
  await until("A page is refused", async () => (refused = await ask("/plants")).status === 503);
  expect([refused?.headers.get("retry-after"), JSON.parse(refused!.text)]).toMatchObject(["1", { error: 50300 }]);
  expect((await ask("/plants/count")).status).toBe(200);
  const page = await ask("/plants", { token });
  expect([page.status, page.headers.get("content-length"), page.text]).toEqual([200, String(body.length + 2), `[${body}]`]);

  for (const socket of sockets) socket.destroy();
  await until("A page is answered again", async () => (await ask("/plants")).status === 200);
  const statuses: number[] = [];
  for (let times = 0; times < SOCKETS; times += 1) statuses.push((await ask("/plants")).status);
  expect(statuses).toEqual(statuses.map(() => 200));
});

describe("what responses keep in memory until they are read", () => {
  const answerOf = (body: string | Uint8Array) => ({ status: 200, body, headers: { etag: '"x"' } });

  it("is counted in bytes, per owner, and released once", () => {
    const outgoing = createResponseBudget({ bodyBytesMax: 65_536 });
    const megabyte = answerOf("é".repeat(2 ** 19));
    const kept = Array.from({ length: 32 }, () => outgoing(megabyte, "a"));
    expect(kept[0]).toMatchObject({ status: 200, headers: megabyte.headers });
    expect(Bun.deepEquals(kept[0]!.body, Buffer.from(megabyte.body as string))).toBe(true);
    expect(() => outgoing(megabyte, "a")).toThrow(expect.objectContaining({ code: "overloaded" }));
    for (let times = 0; times < 16; times += 1) outgoing(megabyte, "b");
    expect(() => outgoing(megabyte, "b")).toThrow(expect.objectContaining({ code: "overloaded" }));
    for (const { onSent } of kept) for (const give of [onSent, onSent]) give?.();
    outgoing(answerOf(new Uint8Array(48 * 2 ** 20)), "c");
    expect(() => outgoing(megabyte, "b")).toThrow();
  });
});

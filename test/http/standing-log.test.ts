import { expect, it } from "bun:test";
import { Streams } from "../../src/http/feed/streams.ts";
import { Output } from "../../src/http/wire/output.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { noHistory } from "../../src/store/history.ts";
import type { LiveBody } from "../../src/http/wire/response.ts";
import type { ChangePage } from "../../src/store/history.ts";
import { openLog } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

const TOKEN = { id: "1", scopes: ["plants:read"] };

/** Streams of a log of which each page is this one. */
function openStreams(page: ChangePage) {
  const log = openLog();
  const history = { ...noHistory("changes_off"), newest: () => Promise.resolve("here"), read: () => Promise.resolve(page) };
  const streams = new Streams({
    history,
    historyFor: () => history,
    authenticator: { confirm: () => Promise.resolve(TOKEN as never) },
    connectionsMax: 100,
    metrics: createMetrics(),
    log,
  });
  const call = { principal: { token: TOKEN, address: "127.0.0.1" }, headers: new Headers() } as never;
  return { log, open: (after?: string) => streams.open(call, { after, tag: undefined }) };
}

it("a log that says there is more and leads no further ends its streams, and is reported as a bug", async () => {
  const { log, open } = openStreams({ changes: [], cursor: "here", isEnd: false });
  const body = await open();
  let isOver = false;
  body.open({ write: () => 0, end: () => (isOver = true), cut: () => {} });
  await until("The stream ends", () => isOver);
  expect(log.lines.filter((line) => line.includes("unexpected_error")).length).toBe(1);
  expect(log.lines.join("")).toContain("leads no further");
  // One that is behind reads by itself.
  const refused = await open("here").catch((reason: unknown) => reason);
  expect(String(refused)).toContain("leads no further");
});

it("a stream that is cut off before it has begun is over, and does not look whole", async () => {
  let sent = "";
  const wire = { write: (data: Uint8Array | string) => ((sent += String(data)), Buffer.byteLength(data)), terminate: () => output.close() };
  const output = new Output({ wire, date: () => "", onWait: () => {} });
  const source = { drained: () => {}, ended: () => {}, closed: () => {} };
  const open: LiveBody["open"] = (peer) => (peer.cut(), source);
  await output.send({ status: 200, body: { open, drop: () => {} } }, { method: "GET", isHttp10: false, isKeepAlive: true });
  expect(sent).toEndWith("\r\n\r\n");
  expect(sent).not.toContain("0\r\n\r\n");
});

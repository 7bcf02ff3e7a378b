import { expect, it } from "bun:test";
import { Streams } from "../../src/http/feed/streams.ts";
import { Output } from "../../src/http/wire/output.ts";
import type { LiveBody } from "../../src/http/wire/response.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { noHistory } from "../../src/store/history.ts";
import type { Change, ChangeQuery, History } from "../../src/store/history.ts";
import { toLogCursor } from "../../src/store/log-cursor.ts";
import { plantOf } from "../support/plant.ts";
import { openLog } from "../support/postgres/store.ts";
import { rejectionOf } from "../support/rejection.ts";
import { until } from "../support/until.ts";

/** So long does a write take that a turn of the feed has no time for all streams of a token. */
const WRITE_MS = 10;
const STREAMS = 32;

/** Streams of a log that has these parts. */
function openStreams(parts: Partial<History>) {
  const history = { ...noHistory("changes_off"), ...parts };
  const log = openLog();
  const streams = new Streams({
    history,
    historyFor: () => history,
    authenticator: { confirm: (_, token) => Promise.resolve(token) },
    connectionsMax: 1000,
    metrics: createMetrics(),
    log,
  });
  /** `token`: its id. */
  function open(token: string, after?: string): Promise<LiveBody> {
    const principal = { token: { id: token, scopes: ["plants:read"] }, address: "127.0.0.1" };
    return streams.open({ principal, headers: new Headers() } as never, { after, tag: undefined });
  }
  return { log, open, drain: () => streams.drain() };
}

const cursorOf = (place: number) => toLogCursor({ major: BigInt(place), minor: 0n, at: 0n });

function toChange(place: number): Change {
  const plant = plantOf(place);
  const state = { kind: "created", at: Date.now() * 1000, tagBefore: undefined, isForgotten: false } as const;
  return { ...state, id: plant.id, plant, cursor: cursorOf(place) };
}

/** A log whose changes are counted on, and the streams that follow it. */
function openCounted() {
  const changes: Change[] = [];
  const onMore = new Set<() => void>();
  const { open, drain } = openStreams({
    newest: () => Promise.resolve(cursorOf(changes.length)),
    read({ after, limit }: ChangeQuery) {
      const from = changes.findIndex(({ cursor }) => cursor === after) + 1;
      const page = changes.slice(from, from + limit);
      return Promise.resolve({ changes: page, cursor: page.at(-1)?.cursor ?? after!, isEnd: from + limit >= changes.length });
    },
    watch(more: () => void) {
      onMore.add(more);
      return () => onMore.delete(more);
    },
  });
  return {
    drain,
    add(count: number): void {
      for (let some = 0; some < count; some += 1) changes.push(toChange(changes.length + 1));
      for (const more of onMore) more();
    },
    /** Resolves with the text that this reader has got, which grows. `onData`: for each block with changes. */
    async follow(token: string, onData: () => void): Promise<() => string> {
      const body = await open(token);
      let text = "";
      body.open({
        write({ bytes }) {
          const block = Buffer.from(bytes).toString();
          text += block;
          if (block.includes("data:")) onData();
          return 0;
        },
        end: () => {},
        cut: () => {},
      });
      return () => text;
    },
  };
}

it("a stream waits for none of the many of another token, and those for whom a turn has no time miss nothing, in order", async () => {
  const { drain, add, follow } = openCounted();
  const order: string[] = [];
  const written = (token: string) => () => {
    order.push(token);
    const end = performance.now() + WRITE_MS;
    while (performance.now() < end);
  };
  const many: Array<() => string> = [];
  for (let at = 0; at < STREAMS; at += 1) many.push(await follow("many", written("many")));
  const one = await follow("one", written("one"));
  let total = 0;
  for (const count of [3, 1200, 300]) {
    add(count);
    total += count;
    await until("The one has them", () => one().includes(`"id":${total},`));
    await Bun.sleep(120);
  }
  expect(order.indexOf("one")).toBeLessThan(2);
  const ids = Array.from({ length: total }, (_, at) => String(at + 1));
  for (const text of [...many, one]) {
    await until("All have them", () => text().includes(`"id":${total},"change"`));
    expect(Array.from(text().matchAll(/data: \{"id":(\d+)/g), ([, id]) => id)).toEqual(ids);
  }
  drain();
});

it("a log that says there is more and leads no further ends its streams, and is reported as a bug", async () => {
  const page = { changes: [], cursor: "here", isEnd: false };
  const { log, open } = openStreams({ newest: () => Promise.resolve("here"), read: () => Promise.resolve(page) });
  const body = await open("1");
  let isOver = false;
  body.open({ write: () => 0, end: () => (isOver = true), cut: () => {} });
  await until("The stream ends", () => isOver);
  expect(log.lines.filter((line) => line.includes("unexpected_error")).length).toBe(1);
  expect(log.lines.join("")).toContain("leads no further");
  // One that is behind reads by itself.
  expect(String(await rejectionOf(open("1", "here")))).toContain("leads no further");
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

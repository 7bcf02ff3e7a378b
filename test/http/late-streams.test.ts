import { expect, it } from "bun:test";
import { Streams } from "../../src/http/feed/streams.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { noHistory } from "../../src/store/history.ts";
import type { Change, ChangeQuery } from "../../src/store/history.ts";
import { toLogCursor } from "../../src/store/log-cursor.ts";
import { openLog } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

/** So long does a write take that a turn of the feed has no time for all streams of a token. */
const WRITE_MS = 10;
const STREAMS = 32;

const cursorOf = (place: number) => toLogCursor({ major: BigInt(place), minor: 0n, at: 0n });

/** A log whose changes are counted on, and the streams that follow it. */
function openStreams() {
  const changes: Change[] = [];
  const onMore = new Set<() => void>();
  const history = {
    ...noHistory("changes_off"),
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
  };
  const streams = new Streams({
    history,
    historyFor: () => history,
    authenticator: { confirm: (_, token) => Promise.resolve(token) },
    connectionsMax: 1000,
    metrics: createMetrics(),
    log: openLog(),
  });
  return {
    streams,
    add(count: number): void {
      for (let some = 0; some < count; some += 1) {
        const place = changes.length + 1;
        const id = asPlantId(BigInt(place));
        const state = {
          kind: "created",
          at: Date.now() * 1000,
          plant: { id, name: "Acer" },
          tagBefore: undefined,
          isForgotten: false,
        } as const;
        changes.push({ ...state, id, cursor: cursorOf(place) });
      }
      for (const more of onMore) more();
    },
    /** Resolves with the text that this reader has got, which grows. `onData`: for each block with changes. */
    async follow(id: string, onData: () => void): Promise<() => string> {
      const token = { id, scopes: ["plants:read"] };
      const call = { principal: { token, address: "127.0.0.1" }, headers: new Headers() } as never;
      const body = await streams.open(call, { after: undefined, tag: undefined });
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
  const { streams, add, follow } = openStreams();
  const order: string[] = [];
  const written = (id: string) => () => {
    order.push(id);
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
  streams.drain();
});

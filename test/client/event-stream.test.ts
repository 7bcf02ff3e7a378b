import { describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import type { Change, FollowedChange } from "../../src/client/client.ts";
import { rejectionOf } from "../support/rejection.ts";

const CHANGE = '{"id":9007199254740993,"change":"created","at":"2026-11-28T04:00:00.000001Z","plant":{"id":9007199254740993,"name":"🌵"}}';
const READ: Change = {
  id: 9007199254740993n,
  change: "created",
  at: "2026-11-28T04:00:00.000001Z",
  plant: { id: 9007199254740993n, name: "🌵" },
};

/** What the client makes of these pieces of a stream that stays open, up to so many entries. */
async function read(pieces: readonly Uint8Array[], entries: number): Promise<readonly FollowedChange[]> {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => pieces.forEach((piece) => controller.enqueue(piece)) });
  const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  const found: FollowedChange[] = [];
  for await (const entry of createClient({ url: "http://127.0.0.1", token: "t", fetch, idleMs: 2000 }).changes()) {
    found.push(entry);
    if (found.length === entries) break;
  }
  return found;
}

const toBytes = (text: string) => new TextEncoder().encode(text);

describe("a stream of changes", () => {
  const text = `retry: 1000\n\nid: a\ndata: ${CHANGE}\n\n: a comment\nid: b\n\nid: c\ndata:${CHANGE}\n\nid: d\n\n`;
  const expected: readonly FollowedChange[] = [
    { change: READ, cursor: "a" },
    { cursor: "b" },
    { change: READ, cursor: "c" },
    { cursor: "d" },
  ];

  for (const [name, end] of Object.entries({ LF: "\n", CRLF: "\r\n", CR: "\r" }))
    it(`reads lines that end with ${name} the same, wherever they are cut`, async () => {
      const bytes = toBytes(`\ufeff${text.replaceAll("\n", end)}`);
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
      const cut = Array.from(bytes, (_, at) => [bytes.slice(0, at), bytes.slice(at)]);
      for (const pieces of [[bytes], single, ...cut]) expect(await read(pieces, 4)).toEqual(expected);
    });

  for (const [why, given, entries] of [
    ["joins lines of data", `id: a\ndata: ${CHANGE.replaceAll(",", "\ndata: ,")}\n\n`, [{ change: READ, cursor: "a" }]],
    ["takes one space from a value, and none from a name", " id: x\nid:  a\n\n", [{ cursor: " a" }]],
    ["keeps the id for events that have none", `id: a\n\ndata: ${CHANGE}\n\n`, [{ cursor: "a" }, { change: READ, cursor: "a" }]],
    [
      "ignores an id with U+0000, other fields and events of other types",
      `id: a\0\nother: x\nevent: x\nid: b\ndata: x\n\nevent: message\ndata: ${CHANGE}\n\n`,
      [{ cursor: "b" }, { change: READ, cursor: "b" }],
    ],
    ["repeats no cursor that comes again", "id: a\n\nid: a\n\nid: b\n\n", [{ cursor: "a" }, { cursor: "b" }]],
    ["knows only a byte order mark at its start", "id: a\n\n\ufeffid: b\n\nid: c\n\n", [{ cursor: "a" }, { cursor: "c" }]],
  ] satisfies ReadonlyArray<readonly [why: string, given: string, entries: readonly FollowedChange[]]>)
    it(why, async () => {
      expect(await read([toBytes(given)], entries.length)).toEqual(entries);
    });

  for (const { why, bytes } of [
    { why: "data that is no JSON", bytes: toBytes("id: a\ndata: {\n\n") },
    { why: "data without anything", bytes: toBytes("id: a\ndata\n\n") },
    { why: "a change of another kind", bytes: toBytes(`id: a\ndata: ${CHANGE.replace("created", "eaten")}\n\n`) },
    { why: "a change without a cursor", bytes: toBytes(`data: ${CHANGE}\n\n`) },
    { why: "what is not UTF-8", bytes: Uint8Array.of(0x69, 0x64, 0x3a, 0xff, 0x0a, 0x0a) },
  ])
    it(`ends at ${why}, and passes nothing on of it`, async () => {
      expect(await rejectionOf(read([bytes], 1))).toMatchObject({ name: "UnexpectedAnswerError", isRepeatable: true });
    });
});

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
async function read(pieces: readonly Uint8Array[], entries: number): Promise<FollowedChange[]> {
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
  const lines = [
    "retry: 1000",
    "",
    "id: a",
    `data: ${CHANGE}`,
    "",
    ": a comment",
    "id: b",
    "",
    "id: c",
    `data:${CHANGE}`,
    "",
    "id: d",
    "",
    "",
  ];
  const expected: readonly FollowedChange[] = [
    { change: READ, cursor: "a" },
    { cursor: "b" },
    { change: READ, cursor: "c" },
    { cursor: "d" },
  ];

  for (const [name, end] of Object.entries({ LF: "\n", CRLF: "\r\n", CR: "\r" }))
    it(`reads lines that end with ${name} the same, wherever they are cut`, async () => {
      const bytes = toBytes(`\ufeff${lines.join(end)}`);
      expect(await read([bytes], 4)).toEqual([...expected]);
      expect(
        await read(
          Array.from(bytes, (byte) => Uint8Array.of(byte)),
          4,
        ),
      ).toEqual([...expected]);
      for (let cut = 1; cut < bytes.length; cut += 1) expect(await read([bytes.slice(0, cut), bytes.slice(cut)], 4)).toEqual([...expected]);
    });

  for (const { why, text, entries } of [
    {
      why: "joins lines of data",
      text: `id: a\n${CHANGE.split(",")
        .map((part, at) => `data: ${at > 0 ? "," : ""}${part}\n`)
        .join("")}\n`,
      entries: [{ change: READ, cursor: "a" }],
    },
    { why: "takes one space from a value, and none from a name", text: " id: x\nid:  a\n\n", entries: [{ cursor: " a" }] },
    {
      why: "keeps the id for events that have none",
      text: `id: a\n\ndata: ${CHANGE}\n\n`,
      entries: [{ cursor: "a" }, { change: READ, cursor: "a" }],
    },
    {
      why: "ignores an id with U+0000, other fields and events of other types",
      text: `id: a\0\nother: x\nevent: x\nid: b\ndata: x\n\nevent: message\ndata: ${CHANGE}\n\n`,
      entries: [{ cursor: "b" }, { change: READ, cursor: "b" }],
    },
    { why: "repeats no cursor that comes again", text: "id: a\n\nid: a\n\nid: b\n\n", entries: [{ cursor: "a" }, { cursor: "b" }] },
    {
      why: "knows only a byte order mark at its start",
      text: "id: a\n\n\ufeffid: b\n\nid: c\n\n",
      entries: [{ cursor: "a" }, { cursor: "c" }],
    },
  ] satisfies ReadonlyArray<{ why: string; text: string; entries: readonly FollowedChange[] }>)
    it(why, async () => {
      expect(await read([toBytes(text)], entries.length)).toEqual([...entries]);
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

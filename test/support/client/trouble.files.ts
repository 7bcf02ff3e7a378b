import type { Client, ImportChunk } from "../../../src/client/client.ts";
import { abortAfter, answer, chunks, drop, readNothing, stayStill } from "./faulty-server.ts";
import type { Fault } from "./faulty-server.ts";
import type { Call, Troubles } from "./trouble.ts";

const LINE = '{"id":1,"name":"Ficus"}\n';
const NDJSON = "application/x-ndjson";
const SUMMARY = { read: 1, created: 1, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [] };

const exported: Call = (plants) => Array.fromAsync(plants.exportedPlants());
const whole = (lastId: string) => answer(200, LINE, { "content-type": NDJSON, "x-last-id": lastId });

/** What `read` gives of an export of one line. */
const readThen = (end: string) => JSON.stringify([LINE, end, true]);

/** Imports and exports that break, stall, or are abandoned. */
export const fileTroubles: Troubles = {
  "an import whose connection breaks": [
    [(socket) => setTimeout(() => drop(socket), 100)],
    (plants) => plants.importPlants(flow({ pauseMs: 10, pieces: Infinity })),
    "ConnectionError repeatable with a cause",
  ],
  "an import that goes on for longer than it may stall": [
    [answerAtEnd()],
    (plants) => plants.importPlants(flow({ pauseMs: 500, pieces: 6 })),
    JSON.stringify(SUMMARY),
    { options: { idleMs: 2000 } },
  ],
  "an import whose source stalls, and is then released": [
    [stayStill],
    (plants) => afterRelease((source) => plants.importPlants(source)),
    "TimeoutError 2000 repeatable with a cause",
    { requests: "any", options: { idleMs: 2000 } },
  ],
  "an import whose source throws, which does not look complete to the service": [
    [stayStill],
    async (plants, server) => {
      const thrown = await plants.importPlants(flow({ pauseMs: 50, pieces: 3, fails: true })).catch(String);
      await pause(50);
      const isWhole = server.requests[0]!.endsWith("\r\n0\r\n\r\n");
      return [thrown, isWhole, server.requests[0]!.includes(LINE), server.open()];
    },
    '["Error: no more",false,true,0]',
  ],
  "an import that the service refuses at once, while its source could go on": [
    [(socket) => answer(401, { error: 40101, message: "No." }, { "x-request-id": "r1" })(socket)],
    (plants) => untilReleased((source) => plants.importPlants(source), { pauseMs: 20, pieces: Infinity }),
    "ServiceError 401 40101 r1 undefined repeatable",
  ],
  "an import that is not read, whose source is not read either": [
    [readNothing],
    async (plants) => {
      let pulled = 0;
      const piece = new Uint8Array(65_536);
      const source = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) }, { highWaterMark: 0 });
      const thrown = await plants
        .importPlants(source, { onProgress: ({ bytes }) => (pulled = bytes) })
        .catch((reason: Error) => reason.name);
      const atEnd = pulled;
      await pause(100);
      // The capacity of the system's buffers for a connection, and no more.
      return [thrown, pulled < 32_000_000, pulled === atEnd];
    },
    '["TimeoutError",true,true]',
    { options: { idleMs: 500 } },
  ],
  "an abort of an import": [
    [stayStill],
    (plants, server) =>
      untilReleased((source) => plants.importPlants(source, { signal: abortAfter(server, 200) }), { pauseMs: 20, pieces: Infinity }),
    "Error: enough",
  ],
  "an import that is aborted before it begins, whose source is released": [
    [stayStill],
    (plants) => afterRelease((source) => plants.importPlants(source, { signal: AbortSignal.abort(new Error("enough")) })),
    "Error: enough",
    { requests: 0 },
  ],
  "an import of something that is not a source": [
    [stayStill],
    (plants) => plants.importPlants(1 as never).catch((thrown: Error) => thrown.name),
    '"TypeError"',
    { requests: 0 },
  ],
  "an export that is cut off": [[chunks([LINE], { type: NDJSON, end: "break" })], read, readThen("ConnectionError")],
  "an export that a proxy ended before the last plant": [[whole("2")], read, readThen("ConnectionError")],
  "an export that ends with the last plant": [[whole("1")], read, readThen("end")],
  "an export that is not UTF-8": [[damaged([0x7b, 0xff, 0x7d, 0x0a])], exported, "UnexpectedAnswerError 200 repeatable with a cause"],
  "an export that stalls": [[chunks([LINE], { type: NDJSON, end: "wait" })], read, readThen("TimeoutError"), { options: { idleMs: 2000 } }],
  "an export that begins with 503": [
    [answer(503, { error: 50300, message: "Busy." }, { "retry-after": "0" }), whole("1")],
    exported,
    '[{"id":"1","name":"Ficus"}]',
    { requests: 2 },
  ],
  "an export that is left early, which closes the connection": [
    [chunks([LINE, LINE], { type: NDJSON, end: "wait" })],
    async (plants, server) => {
      for await (const { id } of plants.exportedPlants()) {
        await pause(10);
        if (id === 1n) break;
      }
      await pause(100);
      return server.open();
    },
    "0",
  ],
  "an export that is read after a pause longer than it may stall": [
    [whole("1")],
    async (plants) => {
      const stream = await plants.exportPlants();
      await pause(3000);
      return new Response(stream).text();
    },
    JSON.stringify(LINE),
    { options: { idleMs: 1500 } },
  ],
  "an abort of an export": [
    [chunks([LINE], { type: NDJSON, end: "wait" })],
    (plants, server) => Array.fromAsync(plants.exportedPlants({ signal: abortAfter(server, 200) })),
    "Error: enough",
  ],
};

/** Runs an import of a source without an end, which must be released. */
async function afterRelease(start: (source: ReadableStream<Uint8Array>) => Promise<unknown>): Promise<unknown> {
  const released = Promise.withResolvers<unknown>();
  try {
    return await start(new ReadableStream<Uint8Array>({ cancel: released.resolve }));
  } finally {
    await released.promise;
  }
}

/** A whole response with these bytes. */
function damaged(bytes: readonly number[]): Fault {
  return (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${NDJSON}\r\ncontent-length: ${bytes.length}\r\nconnection: close\r\n\r\n`);
    socket.end(Buffer.from(bytes));
  };
}

type Flow = Readonly<{ pauseMs: number; pieces: number; fails?: boolean; onRelease?: () => void }>;

/** A generator alone would not notice a release before its first piece. */
function flow({ onRelease, ...options }: Flow): AsyncIterable<ImportChunk> {
  const pieces = openPieces(options);
  const iterator: AsyncIterator<ImportChunk> = {
    next: async () => pieces.next(),
    async return() {
      onRelease?.();
      return pieces.return(undefined);
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

async function* openPieces({ pauseMs, pieces, fails = false }: Flow): AsyncGenerator<ImportChunk> {
  for (let piece = 0; piece < pieces; piece += 1) {
    yield LINE;
    await pause(pauseMs);
  }
  if (fails) throw new Error("no more");
}

/** Runs an import until it fails and has released its source: otherwise it never ends. */
async function untilReleased(start: (source: AsyncIterable<ImportChunk>) => Promise<unknown>, options: Flow): Promise<unknown> {
  const released = Promise.withResolvers<void>();
  try {
    return await start(flow({ ...options, onRelease: released.resolve }));
  } finally {
    await released.promise;
  }
}

/** The readable part of an export, what ended it, and whether that is repeatable. */
async function read(plants: Client): Promise<[string, string, boolean]> {
  let text = "";
  try {
    const reader = (await plants.exportPlants()).getReader();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) text += Buffer.from(chunk.value).toString();
    return [text, "end", true];
  } catch (thrown) {
    const { name, isRepeatable } = thrown as Error & { isRepeatable: boolean };
    return [text, name, isRepeatable];
  }
}

/** Answers an import once its last byte is here. */
function answerAtEnd(): Fault {
  return (socket) => {
    let text = "";
    socket.on("data", (bytes) => {
      text = `${text}${String(bytes)}`.slice(-10);
      if (text.endsWith("0\r\n\r\n")) answer(200, SUMMARY)(socket);
    });
  };
}

function pause(waitMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs));
}

import type { Client, ImportChunk } from "../../../src/client/client.ts";
import { abortAfter, answer, chunks, drop, readNothing, stayStill } from "./faulty-server.ts";
import type { Fault } from "./faulty-server.ts";
import type { Troubles } from "./trouble.ts";

const LINE = '{"id":1,"name":"Ficus"}\n';
const NDJSON = "application/x-ndjson";
const SUMMARY = { read: 1, created: 1, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [] };

/** Imports and exports that break, stall, or are abandoned. */
export const fileTroubles: Troubles = {
  "an import whose connection breaks": {
    faults: [(socket) => setTimeout(() => drop(socket), 100)],
    call: (plants) => plants.importPlants(flow({ pauseMs: 10, pieces: Infinity })),
    outcome: "ConnectionError repeatable with a cause",
  },
  "an import that goes on for longer than it may stall": {
    faults: [answerAtEnd()],
    options: { idleMs: 2000 },
    call: (plants) => plants.importPlants(flow({ pauseMs: 500, pieces: 6 })),
    outcome: JSON.stringify(SUMMARY),
  },
  "an import whose source stalls, and is then released": {
    faults: [stayStill],
    options: { idleMs: 2000 },
    async call(plants) {
      const released = Promise.withResolvers<unknown>();
      try {
        return await plants.importPlants(new ReadableStream<Uint8Array>({ cancel: released.resolve }));
      } finally {
        await released.promise;
      }
    },
    outcome: "TimeoutError 2000 repeatable with a cause",
    requests: "any",
  },
  "an import whose source throws, which does not look complete to the service": {
    faults: [stayStill],
    async call(plants, server) {
      const thrown = await plants.importPlants(flow({ pauseMs: 50, pieces: 3, fails: true })).catch(String);
      await pause(50);
      const isWhole = server.requests[0]!.endsWith("\r\n0\r\n\r\n");
      return [thrown, isWhole, server.requests[0]!.includes(LINE), server.open()];
    },
    outcome: '["Error: no more",false,true,0]',
  },
  "an import that the service refuses at once, while its source could go on": {
    faults: [(socket) => answer(401, { error: 40101, message: "No." }, { "x-request-id": "r1" })(socket)],
    call: (plants) => untilReleased((source) => plants.importPlants(source), { pauseMs: 20, pieces: Infinity }),
    outcome: "ServiceError 401 40101 r1 undefined repeatable",
  },
  "an import that is not read, whose source is not read either": {
    faults: [readNothing],
    options: { idleMs: 500 },
    async call(plants) {
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
    outcome: '["TimeoutError",true,true]',
  },
  "an import without a response": {
    faults: [stayStill],
    options: { idleMs: 2000 },
    call: (plants) => plants.importPlants(LINE).catch((thrown: Error) => thrown.name),
    outcome: '"TimeoutError"',
  },
  "an abort of an import": {
    faults: [stayStill],
    call: (plants, server) =>
      untilReleased((source) => plants.importPlants(source, { signal: abortAfter(server, 200) }), { pauseMs: 20, pieces: Infinity }),
    outcome: "Error: enough",
  },
  "an import that is aborted before it begins, whose source is released": {
    faults: [stayStill],
    async call(plants) {
      const released = Promise.withResolvers<unknown>();
      const source = new ReadableStream<Uint8Array>({ cancel: released.resolve });
      const thrown = await plants.importPlants(source, { signal: AbortSignal.abort(new Error("enough")) }).catch(String);
      await released.promise;
      return thrown;
    },
    outcome: '"Error: enough"',
    requests: 0,
  },
  "an import of plants with an invalid id": {
    faults: [stayStill],
    call: (plants) => plants.importPlants([{ id: 2n ** 63n, name: "Ficus" }]),
    outcome: "RangeError: The id is outside int64: give a whole number from -2^63 to 2^63-1.",
    requests: "any",
  },
  "an import of something that is not a source": {
    faults: [stayStill],
    call: (plants) => plants.importPlants(1 as never).catch((thrown: Error) => thrown.name),
    outcome: '"TypeError"',
    requests: 0,
  },
  "an export that is cut off": {
    faults: [chunks([LINE], { type: NDJSON, end: "break" })],
    call: read,
    outcome: '["{\\"id\\":1,\\"name\\":\\"Ficus\\"}\\n","ConnectionError",true]',
  },
  "an export that a proxy ended before the last plant": {
    faults: [answer(200, LINE, { "content-type": NDJSON, "x-last-id": "2" })],
    call: read,
    outcome: '["{\\"id\\":1,\\"name\\":\\"Ficus\\"}\\n","ConnectionError",true]',
  },
  "an export that ends with the last plant": {
    faults: [answer(200, LINE, { "content-type": NDJSON, "x-last-id": "1" })],
    call: read,
    outcome: '["{\\"id\\":1,\\"name\\":\\"Ficus\\"}\\n","end",true]',
  },
  "an export that is not UTF-8": {
    faults: [damaged([0x7b, 0xff, 0x7d, 0x0a])],
    call: (plants) => Array.fromAsync(plants.exportedPlants()),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "an export that ends within a character": {
    faults: [damaged([...Buffer.from(LINE), 0xf0, 0x9f])],
    call: (plants) => Array.fromAsync(plants.exportedPlants()),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "an export that stalls": {
    faults: [chunks([LINE], { type: NDJSON, end: "wait" })],
    options: { idleMs: 2000 },
    call: read,
    outcome: '["{\\"id\\":1,\\"name\\":\\"Ficus\\"}\\n","TimeoutError",true]',
  },
  "an export that begins with 503": {
    faults: [answer(503, { error: 50300, message: "Busy." }, { "retry-after": "0" }), answer(200, LINE, { "content-type": NDJSON })],
    call: (plants) => Array.fromAsync(plants.exportedPlants()),
    outcome: '[{"id":"1","name":"Ficus"}]',
    requests: 2,
  },
  "a page of HTML instead of an export": {
    faults: [answer(200, "<html></html>", { "content-type": "text/html" })],
    call: (plants) => plants.exportPlants(),
    outcome: "UnexpectedAnswerError 200 repeatable with a cause",
  },
  "an export that is left early, which closes the connection": {
    faults: [chunks([LINE, LINE], { type: NDJSON, end: "wait" })],
    async call(plants, server) {
      for await (const { id } of plants.exportedPlants()) {
        await pause(10);
        if (id === 1n) break;
      }
      await pause(100);
      return server.open();
    },
    outcome: "0",
  },
  "an export that is read after a pause longer than it may stall": {
    faults: [answer(200, LINE, { "content-type": NDJSON })],
    options: { idleMs: 1500 },
    async call(plants) {
      const stream = await plants.exportPlants();
      await pause(3000);
      return new Response(stream).text();
    },
    outcome: JSON.stringify(LINE),
  },
  "an abort of an export": {
    faults: [chunks([LINE], { type: NDJSON, end: "wait" })],
    async call(plants, server) {
      for await (const plant of plants.exportedPlants({ signal: abortAfter(server, 200) })) void plant;
    },
    outcome: "Error: enough",
  },
};

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

import type { ImportChunk, ImportSource } from "./import.ts";
import type { Limit } from "./limit.ts";
import { plantText } from "./plant.ts";

/** The body of an import in the making. */
export type Upload = Readonly<{
  open: () => Promise<Blob | ReadableStream<Uint8Array>>;
  /** What the source itself threw; undefined when it did not. */
  failure: () => { thrown: unknown } | undefined;
  /** Lets go of the source, wherever it is. */
  close: () => void;
}>;

type UploadOptions = Readonly<{
  /** Set anew whenever bytes move; once it is reached, the source is let go of. */
  limit: Limit;
  /** Longest without a byte that moves, in milliseconds. */
  idleMs: number;
  signal: AbortSignal | undefined;
  /** Told how many bytes are on their way. */
  onBytes: (bytes: number) => void;
}>;

/** Nothing of the source is read before it is opened. */
export function createUpload(source: ImportSource, options: UploadOptions): Upload {
  const { limit, idleMs, signal, onBytes } = options;
  const closing = new AbortController();
  const ends = AbortSignal.any([limit.signal, closing.signal, ...(signal ? [signal] : [])]);
  let failure: { thrown: unknown } | undefined;
  function fail(thrown: unknown): void {
    failure = { thrown };
  }
  return {
    async open() {
      ends.throwIfAborted();
      if (canStream()) return toStream(source, { ...options, ends, fail });
      // A browser keeps a large Blob on disk, and sends it from there.
      const gathered =
        source instanceof Blob ? source : new Response(toStream(source, { ...options, onBytes: () => undefined, ends, fail })).blob();
      const blob = await gathered;
      // It does not tell how far it is: it gets the time that a slow line and a slow store need.
      limit.restart(idleMs + blob.size / BYTES_PER_MS_MIN);
      onBytes(blob.size);
      return blob;
    },
    failure: () => failure,
    close: () => closing.abort(),
  };
}

/** The slowest that an import may move once nobody can see it move: 50 KB/s. */
const BYTES_PER_MS_MIN = 50;

/** Whether `fetch` streams a request. Node does, and what follows it, such as Bun; browsers do not over HTTP/1.1. */
function canStream(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

type StreamOptions = UploadOptions & Readonly<{ ends: AbortSignal; fail: (thrown: unknown) => void }>;

/** The bytes of a source as a stream that takes the next ones only when there is room for them. */
function toStream(source: ImportSource, { limit, idleMs, onBytes, ends, fail }: StreamOptions): ReadableStream<Uint8Array> {
  const chunks = openChunks(source);
  const pieces = encode(chunks);
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        ends.addEventListener("abort", () => {
          // Node's fetch goes on to read the body of a request that was aborted: the stream itself has to end.
          controller.error(ends.reason);
          void release(chunks);
        });
      },
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (ends.aborted) return;
          // At the end, what is in the system's and any proxy's buffers has still to be stored before the answer comes.
          limit.restart(done ? idleMs + bytes / BYTES_PER_MS_MIN : idleMs);
          if (done) return controller.close();
          bytes += value.length;
          onBytes(bytes);
          controller.enqueue(value);
        } catch (thrown) {
          // What a source throws once it was let go of is not why the import failed.
          if (!ends.aborted) fail(thrown);
          throw thrown;
        }
      },
      cancel: () => release(chunks),
    },
    { highWaterMark: 0 },
  );
}

/** What gives the pieces of a source one by one, and can be told that no more are wanted, even while it makes one. */
type Chunks = Readonly<{ next: () => Promise<IteratorResult<ImportChunk, unknown>>; return: () => Promise<unknown> }>;

function openChunks(source: ImportSource): Chunks {
  if (typeof source === "string" || source instanceof Uint8Array) return openChunks([source]);
  if (source instanceof Blob) return openChunks(source.stream());
  if (source instanceof ReadableStream) {
    // Not every browser can iterate a stream.
    const reader = (source as ReadableStream<ImportChunk>).getReader();
    return { next: () => reader.read(), return: () => reader.cancel() };
  }
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  return { next: async () => iterator.next(), return: async () => iterator.return?.() };
}

/** Nobody waits for it, as it may hang, and nobody hears it, as the import is over. */
async function release(chunks: Chunks): Promise<void> {
  try {
    await chunks.return();
  } catch {
    // What a source says to its end changes nothing.
  }
}

/** Small pieces are gathered up to this many characters, as long as they come fast. */
const TEXT_LENGTH_MAX = 65_536;
const GATHER_MS_MAX = 50;

async function* encode(chunks: Chunks): AsyncGenerator<Uint8Array, void, undefined> {
  const utf8 = new TextEncoder();
  let text = "";
  let sentAt = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    const chunk = next.value;
    if (chunk instanceof Uint8Array) {
      if (text !== "") yield utf8.encode(text);
      text = "";
      yield chunk;
      continue;
    }
    text += typeof chunk === "string" ? chunk : `${plantText(chunk)}\n`;
    if (text.length < TEXT_LENGTH_MAX && performance.now() - sentAt < GATHER_MS_MAX) continue;
    // A character of two halves may be cut between them.
    const end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    if (end > 0) yield utf8.encode(text.slice(0, end));
    text = text.slice(end);
    sentAt = performance.now();
  }
  if (text !== "") yield utf8.encode(text);
}

import type { ImportChunk, ImportSource } from "./import.ts";
import { splitList } from "./json-list.ts";
import type { Limit } from "./limit.ts";
import { plantText } from "./plant.ts";

type UploadOptions = Readonly<{
  /** Whether the source is one JSON list. */
  isList: boolean;
  /** Restarted whenever bytes move. When it expires, the source is released. */
  limit: Limit;
  /** How long no byte may move, in milliseconds. */
  idleMs: number;
  signal: AbortSignal | undefined;
  /** Called with the number of bytes sent so far. */
  onBytes: (bytes: number) => void;
}>;

/** The request body of an import. Reads nothing from the source before `open`. */
export function createUpload(source: ImportSource, options: UploadOptions) {
  const { isList, limit, idleMs, signal, onBytes } = options;
  const closing = new AbortController();
  const ends = AbortSignal.any([limit.signal, closing.signal, ...(signal ? [signal] : [])]);
  let failure: { thrown: unknown } | undefined;
  function fail(thrown: unknown): void {
    failure = { thrown };
  }
  return {
    async open(): Promise<Blob | ReadableStream<Uint8Array>> {
      if (ends.aborted) void release(openChunks(source));
      ends.throwIfAborted();
      if (canStream()) return toStream(source, { ...options, ends, fail });
      // A browser keeps a large Blob on disk, and sends it from there.
      const gathered =
        source instanceof Blob && !isList
          ? source
          : new Response(toStream(source, { ...options, onBytes: () => undefined, ends, fail })).blob();
      const blob = await gathered;
      // Its progress cannot be seen, so it gets the time that a slow line and a slow store need.
      limit.restart(idleMs + blob.size / BYTES_PER_MS_MIN);
      onBytes(blob.size);
      return blob;
    },
    /** What the source itself threw, if anything. */
    failure: () => failure,
    /** Releases the source, even before its end. */
    close: () => closing.abort(),
  };
}

/** The lowest rate for an import whose progress cannot be seen: 50 KB/s. */
export const BYTES_PER_MS_MIN = 50;

/**
 * Whether `fetch` can stream a request. Node and compatible runtimes such as Bun can; browsers cannot over HTTP/1.1.
 */
function canStream(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

type StreamOptions = UploadOptions & Readonly<{ ends: AbortSignal; fail: (thrown: unknown) => void }>;

/** The bytes of a source as a stream that reads more only when there is room. */
function toStream(source: ImportSource, { isList, limit, idleMs, onBytes, ends, fail }: StreamOptions): ReadableStream<Uint8Array> {
  const chunks = openChunks(source);
  const pieces = isList ? splitList(encode(chunks)) : encode(chunks);
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        ends.addEventListener("abort", () => {
          // Node's fetch keeps reading the body of an aborted request: the stream itself has to end.
          controller.error(ends.reason);
          void release(chunks);
        });
      },
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (ends.aborted) return;
          // At the end, the service must still store what the buffers of the system and any proxy hold before it
          // responds.
          limit.restart(done ? idleMs + bytes / BYTES_PER_MS_MIN : idleMs);
          if (done) return controller.close();
          bytes += value.length;
          onBytes(bytes);
          controller.enqueue(value);
        } catch (thrown) {
          // What a source throws after its release is not why the import failed.
          if (!ends.aborted) fail(thrown);
          throw thrown;
        }
      },
      cancel: () => release(chunks),
    },
    { highWaterMark: 0 },
  );
}

/** Gives the pieces of a source one by one. `return` ends it early, even while `next` is pending. */
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

/** Do not await: the source may hang. */
async function release(chunks: Chunks): Promise<void> {
  try {
    await chunks.return();
  } catch {
    // The import is over.
  }
}

/** Small pieces are joined up to this many characters, as long as they come fast. */
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
    // Do not cut a surrogate pair in half.
    const end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    if (end > 0) yield utf8.encode(text.slice(0, end));
    text = text.slice(end);
    sentAt = performance.now();
  }
  if (text !== "") yield utf8.encode(text);
}

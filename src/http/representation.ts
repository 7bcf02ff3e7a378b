import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, createGzip, createZstdCompress, gzip, zstdCompress } from "node:zlib";
import { chooseCoding } from "./accept.ts";
import type { HttpResponse } from "./wire/response.ts";
import { namesWeakly, textEtag } from "./etag.ts";
import type { Fields } from "./wire/fields.ts";

type Packing = "gzip" | "zstd";

/** A text response that depends only on what is stored. */
type Text = HttpResponse & Readonly<{ body: string }>;

/**
 * The form of a response that suits its reader: with an ETag, empty (304) when the client has it already, compressed
 * when the client accepts that and it is worth it. Not for responses with secrets: their compressed length would reveal
 * them to anyone who can choose a part of the text (BREACH).
 */
export type Represent = (response: Text, requested: Pick<Fields, "get">) => HttpResponse | Promise<HttpResponse>;

/**
 * What a cache may do with plants. Private, because Squid keeps what only says no-cache for everyone, also with a
 * token, and nginx with `proxy_cache_valid` what says nothing.
 */
export const OF_ONE_CLIENT = "private, no-cache";

/** zstd compresses four to ten times as fast as gzip, and smaller, so it wins where both are equally welcome. */
const PACKINGS = ["zstd", "gzip"] as const satisfies readonly Packing[];

/** A shorter text is not worth it: it fits into a packet or two. */
const LENGTH_MIN = 1024;

/**
 * How many responses may be compressed at a time, on threads of the runtime. Those beyond are sent uncompressed.
 *
 * @limit reads: responses that are compressed at a time; others are sent uncompressed
 */
const AT_A_TIME_MAX = 4;

// The fast levels reduce a page of plants to a fifth; slower ones gain little.
const GZIP = { level: constants.Z_BEST_SPEED };
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const packGzip = promisify<string, object, Buffer>(gzip);
const packZstd = promisify<string, object, Buffer>(zstdCompress);

export function createRepresent(): Represent {
  let running = 0;

  async function pack(text: string, packing: Packing): Promise<Buffer> {
    running += 1;
    try {
      return await (packing === "zstd" ? packZstd(text, ZSTD) : packGzip(text, GZIP));
    } finally {
      running -= 1;
    }
  }

  return (response, requested) => {
    const { status, body, headers: given = {} } = response;
    const tag = textEtag(body, "link" in given);
    // Weak, because the compressed forms share it (RFC 9110, 8.8.3.3).
    const headers = { ...given, etag: `W/${tag}`, "cache-control": OF_ONE_CLIENT, vary: given["vary"] ?? "Accept-Encoding" };
    const known = requested.get("if-none-match");
    if (known !== null && namesWeakly(known, tag)) return { status: 304, headers };
    const coding = body.length < LENGTH_MIN || running >= AT_A_TIME_MAX ? "identity" : choosePacking(requested);
    if (coding === "identity") return { status, body, headers };
    return pack(body, coding).then((packed) => ({ status, body: packed, headers: { ...headers, "content-encoding": coding } }));
  };
}

/** The coding that a client prefers for a body that is compressed while it is produced. */
export function choosePacking(requested: Pick<Fields, "get">): Packing | "identity" {
  return chooseCoding(requested.get("accept-encoding"), PACKINGS);
}

/**
 * Compresses texts as they are read, on threads of the runtime. Reads on only as its own output is taken. Fails when
 * they fail, and ends them when it is ended.
 */
export async function* packTexts(texts: AsyncIterable<string>, packing: Packing): AsyncGenerator<Uint8Array, void, void> {
  const packer = packing === "zstd" ? createZstdCompress(ZSTD) : createGzip(GZIP);
  const ended = pipeline(texts, packer);
  // The loop below fails with the same error.
  ended.catch(() => {});
  yield* packer as AsyncIterable<Uint8Array>;
}

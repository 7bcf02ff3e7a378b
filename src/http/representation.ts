import { hash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, createGzip, createZstdCompress, gzip, zstdCompress } from "node:zlib";
import { chooseCoding } from "./accept.ts";
import type { HttpResponse } from "./wire/response.ts";
import { namesWeakly } from "./preconditions.ts";
import type { Fields } from "./wire/fields.ts";

type Packing = "gzip" | "zstd";

/** An answer of text that depends on nothing but what is stored. */
type Text = HttpResponse & Readonly<{ body: string }>;

/**
 * The form of an answer that suits its reader: with an ETag, nothing (304) when he has it already, compressed when he likes that and it is worth it.
 * Not for answers with secrets: how long they are compressed would tell of them, to whoever chooses a part of the text (BREACH).
 */
export type Represent = (answer: Text, requested: Fields) => HttpResponse | Promise<HttpResponse>;

/** Compresses four to ten times as fast, and smaller, than the other; so it is chosen where both are liked alike. */
const PACKINGS = ["zstd", "gzip"] as const satisfies readonly Packing[];

/** A shorter text is not worth it: it fits a packet or two as it is. */
const LENGTH_MIN = 1024;

/** How many answers may be compressed at a time, on threads of the runtime. Those beyond are sent as they are. */
const AT_A_TIME_MAX = 4;

// The fast levels: what they leave is a fifth of a page of plants, and others leave little less.
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

  return (answer, requested) => {
    const { status, body, headers: given = {} } = answer;
    // A page stays the same when another comes behind it for the first time, but then it has a Link, of which the rest follows from the page.
    const tag = `"${hash("sha256", body, "base64url").slice(0, 22)}${"link" in given ? "+" : ""}"`;
    // Weak, so that it is that of the compressed forms too (RFC 9110, 8.8.3.3).
    const headers = { ...given, etag: `W/${tag}`, "cache-control": "no-cache", vary: "Accept-Encoding" };
    const known = requested.get("if-none-match");
    if (known !== null && namesWeakly(known, tag)) return { status: 304, headers };
    const coding = body.length < LENGTH_MIN || running >= AT_A_TIME_MAX ? "identity" : choosePacking(requested);
    if (coding === "identity") return { status, body, headers };
    return pack(body, coding).then((packed) => ({ status, body: packed, headers: { ...headers, "content-encoding": coding } }));
  };
}

/** How a client likes a body best that is compressed while it is made. */
export function choosePacking(requested: Fields): Packing | "identity" {
  return chooseCoding(requested.get("accept-encoding"), PACKINGS);
}

/** Compresses texts while they are read, on threads of the runtime, and reads no further than what it gives is taken. Fails as they do, and ends them when it is ended. */
export async function* packTexts(texts: AsyncIterable<string>, packing: Packing): AsyncGenerator<Uint8Array, void, void> {
  const packer = packing === "zstd" ? createZstdCompress(ZSTD) : createGzip(GZIP);
  const ended = pipeline(texts, packer);
  // What breaks, breaks the reading below too.
  ended.catch(() => {});
  yield* packer as AsyncIterable<Uint8Array>;
}

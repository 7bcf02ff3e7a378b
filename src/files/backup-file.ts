import { createHash } from "node:crypto";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { ByteQueue } from "../runtime/byte-queue.ts";
import { codeOf } from "../runtime/system-failure.ts";
import { decodeUtf8 } from "../domain/json.ts";
import type { ContentsPart, DatedPlant, StoredToken } from "../store/contents.ts";
import {
  BackupError,
  damaged,
  isEndLine,
  NO_BACKUP,
  parseLine,
  toEnd,
  toEndLine,
  toHead,
  toHeadLine,
  toPlant,
  toPlantLine,
  toToken,
  toTokenLine,
} from "./backup-lines.ts";
import type { BackupEnd, BackupHead } from "./backup-lines.ts";
import { isGzip } from "./packed-file.ts";
import type { Bytes } from "./bytes.ts";

/** A part of a backup that was read. Only the last one has an end: then all of it was as written. */
export type BackupPart = ContentsPart & Readonly<{ head: BackupHead; end?: BackupEnd }>;

/** The lines of a backup. Calls `onEnd` before the last one. */
export async function* writeBackup(
  head: BackupHead,
  contents: AsyncIterable<ContentsPart>,
  onEnd: (end: BackupEnd) => void,
): AsyncGenerator<string, void, void> {
  const hash = createHash("sha256");
  const counts = { tokens: 0, plants: 0 };
  function hashed(text: string): string {
    hash.update(text);
    return text;
  }
  yield hashed(toHeadLine(head));
  for await (const { tokens, plants } of contents) {
    counts.tokens += tokens.length;
    counts.plants += plants.length;
    yield hashed(tokens.map(toTokenLine).join("") + plants.map(toPlantLine).join(""));
  }
  const end = { ...counts, sha256: hash.digest("hex") };
  onEnd(end);
  yield toEndLine(end);
}

const NEWLINE = 0x0a;
const utf8 = new TextEncoder();

/** What is unpacked at a time. */
const UNPACKED_BYTES = 256 * 1024;

/** Only that of a large plant is long: a body has at most 64 MiB, of which each byte may take two here. */
const LINE_BYTES_MAX = 128 * 1024 * 1024;
const HEAD_BYTES_MAX = 65_536;

/**
 * Reads a backup. Throws a BackupError when it is none, of a newer format, damaged or not whole: what was yielded counts
 * only once it has ended.
 */
export async function* readBackup(packed: Bytes): AsyncGenerator<BackupPart, void, void> {
  const reader = new BackupReader();
  const rest = new ByteQueue();
  for await (const chunk of unpack(packed)) {
    const whole = chunk.lastIndexOf(NEWLINE) + 1;
    rest.put(chunk.subarray(0, whole === 0 ? chunk.length : whole));
    if (rest.length() > (reader.isBegun() ? LINE_BYTES_MAX : HEAD_BYTES_MAX + chunk.length))
      throw reader.isBegun() ? damaged("a line has no end") : new BackupError(NO_BACKUP);
    if (whole === 0) continue;
    yield reader.read(rest.take());
    rest.put(chunk.subarray(whole));
  }
  yield reader.end(rest.length() > 0);
}

/** Reads the lines of a backup, and expects that all of it is as written. */
class BackupReader {
  readonly #hash = createHash("sha256");
  readonly #counts = { tokens: 0, plants: 0 };
  #head: BackupHead | undefined;
  #end: BackupEnd | undefined;
  #lastId: bigint | undefined;
  readonly #known = new Set<string>();

  isBegun(): boolean {
    return this.#head !== undefined;
  }

  read(lines: Uint8Array): BackupPart {
    if (this.#end) throw damaged("something follows its end");
    const texts = decode(lines).split("\n").slice(0, -1);
    const last = texts.at(-1)!;
    const isEnd = isEndLine(last);
    this.#hash.update(isEnd ? lines.subarray(0, lines.length - utf8.encode(last).length - 1) : lines);
    this.#head ??= toHead(texts.shift()!);
    if (isEnd) this.#end = toEnd(texts.pop() ?? "");
    if (texts.some(isEndLine)) throw damaged("something follows its end");
    const { token: tokens = [], plant: plants = [] } = Object.groupBy(texts.map(parseLine), (line) =>
      "token" in line ? "token" : "plant",
    );
    this.#counts.tokens += tokens.length;
    this.#counts.plants += plants.length;
    return {
      head: this.#head,
      tokens: tokens.map((line) => this.#expectOnce(toToken(line))),
      plants: plants.map((line) => this.#expectNext(toPlant(line))),
    };
  }

  /** `isCut`: part of a line is left. */
  end(isCut: boolean): BackupPart {
    const [head, end] = [this.#head, this.#end];
    const { tokens, plants } = this.#counts;
    if (!head) throw new BackupError(NO_BACKUP);
    if (!end || isCut) throw damaged("it ends too early");
    if (end.tokens !== tokens || end.plants !== plants || end.sha256 !== this.#hash.digest("hex")) throw damaged("its checksum differs");
    return { head, end, tokens: [], plants: [] };
  }

  /** The store would refuse the second one, in the middle of a restore. */
  #expectOnce(stored: StoredToken): StoredToken {
    for (const key of [`id ${stored.token.id}`, `hash ${stored.hash}`]) {
      if (this.#known.has(key)) throw damaged("it has a token twice");
      this.#known.add(key);
    }
    return stored;
  }

  #expectNext(plant: DatedPlant): DatedPlant {
    if (this.#lastId !== undefined && plant.id <= this.#lastId) throw damaged("its plants are not in the order of their ids");
    this.#lastId = plant.id;
    return plant;
  }
}

/** Unpacks gzip of any ratio, as it is read. */
async function* unpack(packed: Bytes): AsyncGenerator<Uint8Array, void, void> {
  const gunzip = createGunzip({ chunkSize: UNPACKED_BYTES });
  let failure: unknown;
  async function* source(): Bytes {
    let isFirst = true;
    try {
      for await (const chunk of packed) {
        if (isFirst && !isGzip(chunk)) throw new BackupError(NO_BACKUP);
        isFirst = false;
        yield chunk;
      }
      if (isFirst) throw new BackupError(NO_BACKUP);
    } catch (reason) {
      failure = reason;
      throw reason;
    }
  }
  // A failure is thrown to the reader.
  pipeline(source, gunzip, () => {});
  try {
    yield* gunzip;
  } catch (reason) {
    throw failure ?? damaged(codeOf(reason) === "Z_BUF_ERROR" ? "it ends too early" : "it cannot be unpacked", reason);
  }
}

function decode(lines: Uint8Array): string {
  try {
    return decodeUtf8(lines);
  } catch (cause) {
    throw damaged("it is not UTF-8", cause);
  }
}

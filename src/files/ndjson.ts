import { createByteQueue } from "../runtime/byte-queue.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { decodeUtf8, parseJson } from "../domain/json.ts";
import { FIELDS, toColumnName } from "./columns.ts";
import { toUtf8 } from "./encodings.ts";
import { expected, tooLong, UNUSED_MAX } from "./row.ts";
import type { ReadOptions, Row, Rows } from "./row.ts";
import { inPieces } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";

const NEWLINE = 0x0a;

const utf8 = new TextEncoder();

/** Reads one plant per line. Empty lines are skipped. */
export async function* readNdjson(bytes: Bytes, { parsePlant, lineBytesMax, onEncoding, onUnused }: ReadOptions): Rows {
  const file = await toUtf8(bytes);
  if (file.encoding) onEncoding?.(file.encoding);
  let line = 0;
  // The beginning of a line that is not complete yet.
  const rest = createByteQueue();
  let isTooLong = false;
  const known = new Set<string>(FIELDS);

  /** A plant may have other members, of which one that is null says nothing. */
  function reportUnused(members: Readonly<Record<string, unknown>>): void {
    for (const name in members) {
      if (known.has(name) || members[name] === null || known.size === FIELDS.length + UNUSED_MAX) continue;
      known.add(name);
      onUnused(toColumnName(name, 0));
    }
  }

  function read(raw: string): Row | undefined {
    line += 1;
    if (raw.trim() === "") return undefined;
    try {
      checkLength(raw, lineBytesMax);
      // Where files were put together, each may begin with the mark of UTF-8, as the body of a create may.
      const members = parseJson(raw.startsWith("\ufeff") ? raw.slice(1) : raw) as Record<string, unknown> | null;
      // What writes JSON by itself has null where there is nothing.
      if (members?.["tag"] === null) delete members["tag"];
      const plant = parsePlant(members);
      reportUnused(members!);
      return { line, plant };
    } catch (thrown) {
      const refusal = expected(thrown);
      return { line, refusal: refusal.code === "malformed_json" && JOINED_OBJECTS.test(raw) ? joined() : refusal };
    }
  }

  function refuse(refusal: PlantStoreError): Row {
    line += 1;
    return { line, refusal };
  }

  /** Decodes whole lines together, and one by one only if something in them is not UTF-8. */
  function readAll(lines: Uint8Array): Row[] {
    const texts = decode(lines)?.split("\n") ?? splitLines(lines).map(decode);
    return texts
      .map((text) => (text === undefined ? refuse(new PlantStoreError("invalid_unicode")) : read(text)))
      .filter((row) => row !== undefined);
  }

  function keep(part: Uint8Array): void {
    // The sender may reuse the memory of what it sent.
    if (!isTooLong) rest.put(part.slice());
    // The rest of a line that is too long is skipped, not kept.
    isTooLong ||= rest.length() > lineBytesMax;
    if (isTooLong) rest.take();
  }

  for await (const chunk of inPieces(file.bytes)) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      keep(chunk);
      continue;
    }
    let start = 0;
    if (isTooLong) {
      start = chunk.indexOf(NEWLINE) + 1;
      isTooLong = false;
      yield [refuse(tooLong(lineBytesMax))];
    }
    if (end >= start) {
      rest.put(chunk.subarray(start, end));
      yield readAll(rest.take());
    }
    keep(chunk.subarray(end + 1));
  }
  if (isTooLong) yield [refuse(tooLong(lineBytesMax, line === 0))];
  else if (rest.length() > 0) yield readAll(rest.take());
}

/** The end of an object, and the beginning of the next. */
const JOINED_OBJECTS = /\}\s*\{/;

function joined(): PlantStoreError {
  const message =
    "The line is not valid JSON, as it holds several objects: put each on a line of its own; `curl -d` removes line ends, `--data-binary` keeps them.";
  return new PlantStoreError("malformed_json", { message });
}

/** Undefined for bytes that are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return decodeUtf8(bytes);
  } catch {
    return undefined;
  }
}

/** A UTF-16 unit takes at most three bytes, so most lines need not be measured. */
function checkLength(text: string, bytesMax: number): void {
  if (text.length * 3 > bytesMax && utf8.encode(text).length > bytesMax) throw tooLong(bytesMax);
}

function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return [...lines, bytes.subarray(start)];
}

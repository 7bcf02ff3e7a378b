import { ByteQueue } from "../runtime/byte-queue.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { decodeUtf8, parseJson } from "../domain/json.ts";
import { FIELDS, toColumnName } from "./reading/columns.ts";
import { readMark, transcode } from "./encoding/encodings.ts";
import { noteText } from "./reading/row-doubts.ts";
import { createFindings, expected, tooLong, UNUSED_MAX } from "./row.ts";
import type { Findings, ReadOptions, Row, Rows } from "./row.ts";
import { inPieces } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";

/** Reads one plant per line. Empty lines are skipped. */
export async function* readNdjson(bytes: Bytes, options: ReadOptions, findings: Findings = createFindings()): Rows {
  const { marked = "utf-8", bytes: unmarked } = await readMark(bytes);
  if (marked !== "utf-8") findings.encoding = marked;
  const lines = createLineSplitter(options.lineBytesMax);
  const read = createLineReader(options, findings);
  for await (const piece of inPieces(marked === "utf-8" ? unmarked : transcode(unmarked, marked)))
    yield lines
      .split(piece)
      .map(read)
      .filter((row) => row !== undefined);
  yield lines
    .end()
    .map(read)
    .filter((row) => row !== undefined);
}

/** The text of a line, or why it cannot be read. */
type LineText = string | PlantStoreError;

function createLineSplitter(bytesMax: number) {
  // The beginning of a line that is not complete yet.
  const rest = new ByteQueue();
  let isTooLong = false;
  let isFirst = true;

  function keep(part: Uint8Array): void {
    // The sender may reuse the memory of what it sent.
    if (!isTooLong) rest.put(part.slice());
    // The rest of a line that is too long is skipped, not kept.
    isTooLong ||= rest.length() > bytesMax;
    if (isTooLong) rest.take();
  }

  /** The lines up to the end of this part: the first may have begun before it. */
  function take(part: Uint8Array): readonly LineText[] {
    if (!isTooLong) {
      rest.put(part);
      return decodeLines(rest.take());
    }
    isTooLong = false;
    const next = part.indexOf(NEWLINE) + 1;
    const refusal = tooLong(bytesMax);
    return next === 0 ? [refusal] : [refusal, ...decodeLines(part.subarray(next))];
  }

  return {
    /** The lines that end in the next piece of a file. */
    split(piece: Uint8Array): readonly LineText[] {
      const end = piece.lastIndexOf(NEWLINE);
      const lines = end === -1 ? [] : take(piece.subarray(0, end));
      isFirst &&= end === -1;
      keep(piece.subarray(end + 1));
      return lines;
    },
    /** The last line, if it lacks its end. */
    end(): readonly LineText[] {
      if (isTooLong) return [tooLong(bytesMax, isFirst)];
      return rest.length() > 0 ? decodeLines(rest.take()) : [];
    },
  };
}

const NEWLINE = 0x0a;

/** Decodes whole lines together, and one by one only if something in them is not UTF-8. */
function decodeLines(lines: Uint8Array): readonly LineText[] {
  const texts = decode(lines);
  if (typeof texts === "string") return texts.split("\n");
  const each: LineText[] = [];
  let start = 0;
  for (let end = lines.indexOf(NEWLINE); end !== -1; end = lines.indexOf(NEWLINE, start)) {
    each.push(decode(lines.subarray(start, end)));
    start = end + 1;
  }
  return [...each, decode(lines.subarray(start))];
}

function decode(bytes: Uint8Array): LineText {
  try {
    return decodeUtf8(bytes);
  } catch (thrown) {
    return expected(thrown);
  }
}

function createLineReader({ parsePlant, lineBytesMax, table }: ReadOptions, findings: Findings) {
  const { unusedColumns } = findings;
  const isAsked = table !== undefined && "asked" in table;
  const known = new Set<string>(FIELDS);
  let line = 0;

  /** A plant may have other members, of which one that is null says nothing. */
  function noteUnused(members: Readonly<Record<string, unknown>>): void {
    for (const name in members) {
      if (known.has(name) || members[name] === null || unusedColumns.length === UNUSED_MAX) continue;
      known.add(name);
      unusedColumns.push(toColumnName(name, 0));
    }
  }

  return (text: LineText): Row | undefined => {
    line += 1;
    if (typeof text !== "string") return { line, refusal: text };
    if (text.trim() === "") return undefined;
    try {
      checkLength(text, lineBytesMax);
      // Where files were put together, each may begin with the mark of UTF-8, as the body of a create may.
      const members = parseJson(text.startsWith("\ufeff") ? text.slice(1) : text) as Record<string, unknown> | null;
      // What writes JSON by itself has null where there is nothing.
      if (members?.["tag"] === null) delete members["tag"];
      const plant = parsePlant(members);
      noteUnused(members!);
      if (isAsked) noteText([plant.name, plant.tag], line, findings);
      return { line, plant };
    } catch (thrown) {
      const refusal = expected(thrown);
      return { line, refusal: refusal.code === "malformed_json" && JOINED_OBJECTS.test(text) ? joined() : refusal };
    }
  };
}

const utf8 = new TextEncoder();

/** A UTF-16 unit takes at most three bytes, so most lines need not be measured. */
function checkLength(text: string, bytesMax: number): void {
  if (text.length * 3 > bytesMax && utf8.encode(text).length > bytesMax) throw tooLong(bytesMax);
}

/** The end of an object, and the beginning of the next. */
const JOINED_OBJECTS = /\}\s*\{/;

function joined(): PlantStoreError {
  const message =
    "The line is not valid JSON, as it holds several objects: put each on a line of its own; `curl -d` removes line ends, `--data-binary` keeps them.";
  return new PlantStoreError("malformed_json", { message });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const TAB = 0x09;
const NEWLINE = 0x0a;
const LIST_OPEN = 0x5b;
const LIST_CLOSE = 0x5d;
/** What makes an opening or closing bracket the brace of the same side. */
const BRACE = 0x20;

/** How much is handed on at once. */
const LINES_BYTES = 65_536;

/**
 * The items of a JSON list (RFC 8259) as lines of NDJSON, in constant memory. Nothing is lost without a word: a comma too
 * many, a list without an end, and what follows the list get lines as well, which are no JSON and will be refused.
 */
export async function* splitList(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const lines: number[] = [];
  /** How many brackets are open: one between the items, none before the list, and Infinity behind it. */
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  /** Whether something is on the line that is being written, and whether a comma is before it. */
  let isBegun = false;
  let isDue = false;

  function endItem(): void {
    if (!isBegun) lines.push(COMMA);
    lines.push(NEWLINE);
    isBegun = false;
  }

  /** A line cannot hold a newline. Within a text JSON allows neither that nor a tab. */
  function keep(byte: number): void {
    if (!isBegun && isSpace(byte)) return;
    // Behind the list it must not pass for an item.
    if (!isBegun && depth === Infinity) lines.push(LIST_CLOSE);
    isBegun = true;
    lines.push(byte === NEWLINE ? TAB : byte);
  }

  function read(byte: number): void {
    if (isInText) {
      isInText = isEscaped || byte !== QUOTE;
      isEscaped = !isEscaped && byte === BACKSLASH;
      keep(byte);
    } else if (depth === 0) depth = byte === LIST_OPEN ? 1 : 0;
    else if (depth === 1 && byte === COMMA) {
      endItem();
      isDue = true;
    } else if (depth === 1 && byte === LIST_CLOSE) {
      if (isBegun || isDue) endItem();
      depth = Infinity;
    } else {
      isInText = byte === QUOTE && depth < Infinity;
      if ((byte | BRACE) === (LIST_OPEN | BRACE)) depth += 1;
      else if ((byte | BRACE) === (LIST_CLOSE | BRACE) && depth > 1) depth -= 1;
      keep(byte);
    }
  }

  for await (const piece of bytes) {
    for (const byte of piece) {
      read(byte);
      // A text may come as one piece, of any size.
      if (lines.length >= LINES_BYTES) yield Uint8Array.from(lines.splice(0));
    }
    // A slow source is not held back.
    if (lines.length > 0) yield Uint8Array.from(lines.splice(0));
  }
  // An item that is cut off is refused by itself.
  if (!isInText && depth === 1) lines.push(...(isBegun ? [NEWLINE] : []), LIST_OPEN);
  if (lines.length > 0) yield Uint8Array.from(lines);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === TAB || byte === NEWLINE || byte === 0x0d;
}

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
  const splitter = new ListSplitter();
  for await (const piece of bytes) {
    for (const byte of piece) {
      splitter.read(byte);
      // A text may come as one piece, of any size.
      if (splitter.length() >= LINES_BYTES) yield splitter.take();
    }
    // A slow source is not held back.
    if (splitter.length() > 0) yield splitter.take();
  }
  splitter.end();
  if (splitter.length() > 0) yield splitter.take();
}

class ListSplitter {
  readonly #lines: number[] = [];
  /** How many brackets are open: one between the items, none before the list, and Infinity behind it. */
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** Whether something is on the line that is being written, and whether a comma is before it. */
  #isBegun = false;
  #isDue = false;

  length(): number {
    return this.#lines.length;
  }

  take(): Uint8Array {
    return Uint8Array.from(this.#lines.splice(0));
  }

  read(byte: number): void {
    if (this.#isInText) {
      this.#isInText = this.#isEscaped || byte !== QUOTE;
      this.#isEscaped = !this.#isEscaped && byte === BACKSLASH;
      this.#keep(byte);
    } else if (this.#depth === 0) this.#depth = byte === LIST_OPEN ? 1 : 0;
    else if (this.#depth === 1 && byte === COMMA) {
      this.#endItem();
      this.#isDue = true;
    } else if (this.#depth === 1 && byte === LIST_CLOSE) {
      if (this.#isBegun || this.#isDue) this.#endItem();
      this.#depth = Infinity;
    } else {
      this.#isInText = byte === QUOTE && this.#depth < Infinity;
      if ((byte | BRACE) === (LIST_OPEN | BRACE)) this.#depth += 1;
      else if ((byte | BRACE) === (LIST_CLOSE | BRACE) && this.#depth > 1) this.#depth -= 1;
      this.#keep(byte);
    }
  }

  /** An item that is cut off is refused by itself. */
  end(): void {
    if (!this.#isInText && this.#depth === 1) this.#lines.push(...(this.#isBegun ? [NEWLINE] : []), LIST_OPEN);
  }

  #endItem(): void {
    if (!this.#isBegun) this.#lines.push(COMMA);
    this.#lines.push(NEWLINE);
    this.#isBegun = false;
  }

  /** A line cannot hold a newline. Within a text JSON allows neither that nor a tab. */
  #keep(byte: number): void {
    if (!this.#isBegun && isSpace(byte)) return;
    // Behind the list it must not pass for an item.
    if (!this.#isBegun && this.#depth === Infinity) this.#lines.push(LIST_CLOSE);
    this.#isBegun = true;
    this.#lines.push(byte === NEWLINE ? TAB : byte);
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === TAB || byte === NEWLINE || byte === 0x0d;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const TAB = 0x09;
const NEWLINE = 0x0a;
const LIST_OPEN = 0x5b;
const LIST_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
/** What makes an opening or closing bracket the brace of the same side. */
const BRACE = 0x20;

/** How much is handed on at once. */
const LINES_BYTES = 65_536;

/**
 * The items of a JSON list (RFC 8259) as lines of NDJSON, in constant memory; or those of the first list of objects that is
 * a member of an object. Its other members are no plants. Nothing else is lost without a word: a comma too many, a list
 * without an end, a second list of objects, and what follows get lines as well, which are no JSON and will be refused.
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
  /** The object around the list, if there is one. */
  #members: Members | undefined;

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
    } else if (this.#depth === 0) this.#find(byte);
    else if (this.#depth === 1 && byte === COMMA) {
      this.#endItem();
      this.#isDue = true;
    } else if (this.#depth === 1 && byte === LIST_CLOSE) {
      if (this.#isBegun || this.#isDue) this.#endItem();
      this.#depth = this.#members ? 0 : Infinity;
    } else {
      this.#isInText = byte === QUOTE && this.#depth < Infinity;
      if (isOpening(byte)) this.#depth += 1;
      else if (isClosing(byte) && this.#depth > 1) this.#depth -= 1;
      this.#keep(byte);
    }
  }

  /** An item that is cut off is refused by itself. An object that is cut off, or has no list, is refused, too. */
  end(): void {
    if (this.#isInText) return;
    if (this.#depth === 1) this.#lines.push(...(this.#isBegun ? [NEWLINE] : []), LIST_OPEN);
    else if (this.#depth === 0 && this.#members && !this.#members.isWhole()) this.#lines.push(OBJECT_OPEN);
  }

  /** Looks for the list, and for what follows it in the object around it. */
  #find(byte: number): void {
    if (this.#members) {
      const found = this.#members.read(byte);
      if (found === undefined) return;
      this.#depth = found === "list" ? 1 : Infinity;
      this.read(byte);
    } else if (byte === OBJECT_OPEN) this.#members = new Members();
    else if (byte === LIST_OPEN) this.#depth = 1;
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

/** Skips the members of an object up to the first list of objects, and behind it. */
class Members {
  #depth = 1;
  #isInText = false;
  #isEscaped = false;
  /** Whether the value of a member has just begun as a list. */
  #isListBegun = false;
  /** Whether there was a list of objects, or at least one that is empty. */
  #hasList = false;
  #hasEmptyList = false;

  /** `list`: this byte begins the first item of the list. `rest`: what belongs to neither the list nor the object begins. */
  read(byte: number): "list" | "rest" | undefined {
    if (this.#isInText) {
      this.#isInText = this.#isEscaped || byte !== QUOTE;
      this.#isEscaped = !this.#isEscaped && byte === BACKSLASH;
      return undefined;
    }
    if (isSpace(byte)) return undefined;
    if (this.#depth === 0) return "rest";
    if (this.#isListBegun && byte === OBJECT_OPEN) return this.#beginList();
    this.#hasEmptyList ||= this.#isListBegun && byte === LIST_CLOSE;
    this.#isListBegun = this.#depth === 1 && byte === LIST_OPEN;
    this.#isInText = byte === QUOTE;
    if (isOpening(byte)) this.#depth += 1;
    else if (isClosing(byte)) this.#depth -= 1;
    return undefined;
  }

  /** Whether the object has its end, and had a list. */
  isWhole(): boolean {
    return this.#depth === 0 && (this.#hasList || this.#hasEmptyList);
  }

  #beginList(): "list" | "rest" {
    if (this.#hasList) return "rest";
    this.#hasList = true;
    this.#isListBegun = false;
    // Its end is not read here.
    this.#depth = 1;
    return "list";
  }
}

function isOpening(byte: number): boolean {
  return (byte | BRACE) === (LIST_OPEN | BRACE);
}

function isClosing(byte: number): boolean {
  return (byte | BRACE) === (LIST_CLOSE | BRACE);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === TAB || byte === NEWLINE || byte === 0x0d;
}

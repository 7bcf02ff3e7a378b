import { isNull } from "./null-mark.ts";
import type { Cell, CellRow, RefusedLine } from "./cells.ts";
import type { Quotes } from "./reading/reading.ts";
import { toRefusal } from "./row.ts";
import type { Fault } from "./row.ts";

/** A row, its cells with one character per byte; or why it is not well formed. */
export type ParsedRow = CellRow | RefusedLine;

/** How much is read in a step. */
const STEP_LENGTH = 2_048;

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const SPACE = 0x20;

type ParserOptions = Readonly<{
  /** One character, or none where each line is one cell. */
  delimiter: string;
  quotes?: Quotes;
  /** Whether spaces may stand around quotes, as in `1, "a, b"`. */
  isLenient?: boolean;
  bytesMax: number;
}>;

/**
 * Splits CSV (RFC 4180), which comes in pieces that are cut anywhere, into rows. Each line may end in LF, CRLF or CR.
 * Empty lines are not rows. A well-formed quoted cell is a cell, whatever is in it.
 *
 * A row that is not well formed consists of its first line only, and reading resumes at the next line: a quote that is
 * never closed takes no other row with it. For that, the text after the first line of an open row is kept, up to
 * `bytesMax`. No byte is read more than three times, whatever the file holds: of two lines with an odd number of quotes,
 * the first can open a quote, and the second closes it or reveals the fault. A row longer than `bytesMax` is refused.
 */
export class CsvParser {
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #isLenient: boolean;
  readonly #bytesMax: number;
  /**
   * "closed": after a quote in a quoted cell, which ends the cell or is the first of two. "ended": after spaces behind it.
   * "refused": in the rest of a faulty row's line.
   */
  #state: "start" | "plain" | "quoted" | "closed" | "ended" | "refused" = "start";
  #rows: ParsedRow[] = [];
  #cells: Cell[] = [];
  #form: { literal?: number[]; isLoose?: boolean } = {};
  #cell = "";
  /** Where the part of the cell begins in the current piece that was not kept yet. */
  #from = 0;
  #size = 0;
  #line = 1;
  #rowLine = 1;
  /** The character where reading stopped: each is taken from the text once. */
  #char = 0;
  #isAfterCr = false;
  /**
   * The newline that ended the first line of the open row, as an index into the current piece. 0 if an earlier piece had
   * it: then `#kept` holds the text from there on.
   */
  #firstEnd: number | undefined;
  #kept = "";

  constructor({ delimiter, quotes = "double", isLenient = false, bytesMax }: ParserOptions) {
    // No character is NaN.
    this.#delimiter = delimiter.charCodeAt(0);
    this.#quote = quotes === "double" ? QUOTE : NaN;
    this.#isLenient = isLenient;
    this.#bytesMax = bytesMax;
  }

  /** The rows that end in the next piece, after each step of reading: what a fault leaves to be read again may be long. */
  *read(text: string): Generator<readonly ParsedRow[], void, void> {
    // Not put together: a text may have a fault in each of its steps.
    const waiting = [text];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.length > STEP_LENGTH) waiting.push(next.slice(STEP_LENGTH));
      const again = this.#step(next.slice(0, STEP_LENGTH), false);
      if (again !== "") waiting.push(again);
      yield this.#take();
    }
  }

  /** The rows that the end of the file ends. */
  *end(): Generator<readonly ParsedRow[], void, void> {
    for (let rest = this.#step("", true); rest !== ""; rest = this.#step("", true)) yield* this.read(rest);
    // The last line may lack its newline.
    yield* this.read("\n");
  }

  #take(): readonly ParsedRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Returns what a fault leaves to be read again of earlier texts, and with them of this one. */
  #step(text: string, isLast: boolean): string {
    this.#from = 0;
    for (let at = 0; at <= text.length; at += 1) {
      at = this.#skipText(text, at);
      const fault = at === text.length ? this.#pause(text, isLast) : this.#readChar(text, at);
      if (fault === undefined) continue;
      this.#refuse(fault);
      if (this.#firstEnd === undefined) continue;
      const again = this.#kept;
      at = this.#firstEnd - 1;
      this.#kept = "";
      this.#firstEnd = undefined;
      if (again !== "") return again + text;
    }
    if (this.#firstEnd === undefined) return "";
    this.#kept += text.slice(this.#firstEnd);
    this.#firstEnd = 0;
    return "";
  }

  /** Goes on to the next character that may end the text of a cell, which most don't. Outside of a text that is the first one. */
  #skipText(text: string, start: number): number {
    const isText = this.#state === "plain" || this.#state === "quoted";
    const quote = this.#quote;
    const delimiter = this.#state === "plain" ? this.#delimiter : quote;
    let char = 0;
    let at = start;
    for (; at < text.length; at += 1) {
      char = text.charCodeAt(at);
      if (!isText || char === quote || char === delimiter || char === LF || char === CR) break;
    }
    this.#char = char;
    if (at > start) this.#isAfterCr = false;
    return at;
  }

  /** The next text goes on with this row. */
  #pause(text: string, isLast: boolean): Fault | undefined {
    if (this.#state === "refused") return undefined;
    if (this.#state === "plain" || this.#state === "quoted") this.#keepTo(text, text.length);
    return this.#lengthFault() ?? (isLast && this.#state === "quoted" ? "open_quote" : undefined);
  }

  #readChar(text: string, at: number): Fault | undefined {
    const char = this.#char;
    const isSecondHalf = this.#isAfterCr && char === LF;
    this.#isAfterCr = char === CR;
    if (this.#state === "quoted") return this.#readQuoted(text, at, isSecondHalf);
    if (isSecondHalf && this.#state === "start" && this.#cells.length === 0) this.#from = at + 1;
    else if (char === LF || char === CR) return this.#endLine(text, at);
    else if (this.#state === "refused") return undefined;
    else if (char === this.#delimiter) {
      if (this.#state === "plain") this.#keepTo(text, at);
      this.#from = at + 1;
      this.#endCell();
    } else if (this.#state === "plain") {
      this.#keepTo(text, at);
      if (!this.#isLenient || /[^ ]/.test(this.#cell)) return this.#quoteFault();
      [this.#cell, this.#from, this.#state] = ["", at + 1, "quoted"];
    } else if (char === this.#quote && this.#state !== "ended") {
      // At the start of a cell, a quote opens it. After another quote, it is part of the text: two mean one.
      this.#from = this.#state === "start" ? at + 1 : at;
      this.#state = "quoted";
    } else if (char === SPACE && this.#isLenient && this.#state !== "start") this.#state = "ended";
    else {
      const fault = this.#state === "start" ? undefined : this.#quoteFault();
      this.#from = at;
      this.#state = "plain";
      return fault;
    }
    return undefined;
  }

  #readQuoted(text: string, at: number, isSecondHalf: boolean): Fault | undefined {
    const char = this.#char;
    if (char === QUOTE) {
      this.#keepTo(text, at);
      this.#state = "closed";
    } else if ((char === LF && !isSecondHalf) || char === CR) {
      this.#keepTo(text, at);
      this.#from = at;
      this.#firstEnd ??= at;
      const fault = this.#lengthFault();
      this.#line += 1;
      return fault;
    }
    return undefined;
  }

  #endLine(text: string, at: number): Fault | undefined {
    if (this.#state === "plain") this.#keepTo(text, at);
    this.#from = at + 1;
    this.#firstEnd ??= at;
    const fault = this.#state === "refused" ? undefined : this.#endRow();
    if (fault === undefined) this.#beginRow();
    return fault;
  }

  #keepTo(text: string, end: number): void {
    this.#size += end - this.#from;
    if (this.#size <= this.#bytesMax) this.#cell += text.slice(this.#from, end);
  }

  #endCell(): void {
    // The cells of a row that is too long are not kept.
    const isQuoted = this.#state === "closed" || this.#state === "ended";
    if (isQuoted && isNull(this.#cell)) (this.#form.literal ??= []).push(this.#cells.length);
    if (!isQuoted && /^ | $/.test(this.#cell)) this.#form.isLoose = true;
    if (this.#size <= this.#bytesMax) this.#cells.push(isQuoted || this.#cell !== "" ? this.#cell : undefined);
    this.#size += 1;
    this.#cell = "";
    this.#state = "start";
  }

  #endRow(): Fault | undefined {
    const isEmpty = this.#state === "start" && this.#cells.length === 0;
    this.#endCell();
    const fault = this.#lengthFault();
    if (!isEmpty && !fault) this.#rows.push({ line: this.#rowLine, cells: this.#cells, ...this.#form });
    return fault;
  }

  #beginRow(): void {
    this.#state = "start";
    this.#cells = [];
    this.#form = {};
    this.#cell = "";
    this.#size = 0;
    this.#line += 1;
    this.#rowLine = this.#line;
    this.#firstEnd = undefined;
    this.#kept = "";
  }

  #lengthFault(): Fault | undefined {
    if (this.#size <= this.#bytesMax) return undefined;
    return this.#line === this.#rowLine ? "length" : "open_quote";
  }

  #quoteFault(): Fault {
    return this.#lengthFault() ?? (this.#line === this.#rowLine ? "stray_quote" : "open_quote");
  }

  #refuse(fault: Fault): void {
    this.#rows.push({ line: this.#rowLine, refusal: toRefusal(fault, this.#bytesMax) });
    this.#state = "refused";
    this.#line = this.#rowLine;
  }
}

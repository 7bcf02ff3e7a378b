/** A cell, one character per byte; undefined if it is empty and not quoted. */
export type Cell = string | undefined;

/** Why a row is not well formed: a quote where none may be; a quote that is not closed properly, or not within the limit; too long. */
export type Fault = "stray_quote" | "open_quote" | "length";

type SplitterOptions = Readonly<{
  delimiter: string;
  /** A longer row is refused. */
  bytesMax: number;
  /** `line`: where the row begins, from 1. */
  onRow: (cells: readonly Cell[], line: number) => void;
  onFault: (fault: Fault, line: number) => void;
}>;

/** Takes CSV in pieces, cut anywhere. Reads some of it before each step: what a fault leaves to be read again may be long. */
export type Splitter = Readonly<{ feed(text: string): Iterable<void>; end(): Iterable<void> }>;

/** How much of it is read in a step. */
const STEP_LENGTH = 2_048;

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;

/**
 * Splits CSV (RFC 4180) into rows. Each line may end in LF, CRLF or CR. Empty lines are not rows. A well-formed quoted
 * cell is a cell, whatever is in it.
 *
 * A row that is not well formed consists of its first line only, and reading resumes at the next line: a quote that is
 * never closed takes no other row with it. For that, the text after the first line of an open row is kept, up to
 * `bytesMax`. No byte is read more than three times, whatever the file holds: of two lines with an odd number of quotes,
 * the first can open a quote, and the second closes it or reveals the fault.
 */
export function createSplitter({ delimiter, bytesMax, onRow, onFault }: SplitterOptions): Splitter {
  const delimiterCode = delimiter.charCodeAt(0);
  // "closed": after a quote in a quoted cell, which ends the cell or is the first of two. "refused": in the rest of a
  // faulty row's line.
  let state: "start" | "plain" | "quoted" | "closed" | "refused" = "start";
  let cells: Cell[] = [];
  let cell = "";
  let size = 0;
  let line = 1;
  let rowLine = 1;
  let isAfterCr = false;
  // The newline that ended the first line of the open row, as an index into the current piece. 0 if an earlier piece
  // had it: then `kept` holds the text from there on.
  let firstEnd: number | undefined;
  let kept = "";

  function keep(text: string): void {
    size += text.length;
    if (size <= bytesMax) cell += text;
  }

  function endCell(): void {
    // The cells of a row that is too long are not kept.
    if (size <= bytesMax) cells.push(state === "closed" || cell !== "" ? cell : undefined);
    size += 1;
    cell = "";
    state = "start";
  }

  function endRow(): Fault | undefined {
    const isEmpty = state === "start" && cells.length === 0;
    endCell();
    const fault = lengthFault();
    if (!isEmpty && !fault) onRow(cells, rowLine);
    return fault;
  }

  function beginRow(): void {
    state = "start";
    cells = [];
    cell = "";
    size = 0;
    line += 1;
    rowLine = line;
    firstEnd = undefined;
    kept = "";
  }

  function lengthFault(): Fault | undefined {
    if (size <= bytesMax) return undefined;
    return line === rowLine ? "length" : "open_quote";
  }

  function quoteFault(): Fault {
    return lengthFault() ?? (line === rowLine ? "stray_quote" : "open_quote");
  }

  function refuse(fault: Fault): void {
    onFault(fault, rowLine);
    state = "refused";
    line = rowLine;
  }

  /** Returns what a fault leaves to be read again of earlier texts, and with them of this one. */
  function read(text: string, isLast: boolean): string {
    // Where the part of the cell begins that was not kept yet.
    let from = 0;
    for (let at = 0; at <= text.length; at += 1) {
      let fault: Fault | undefined;
      if (at === text.length) {
        if (state === "plain" || state === "quoted") keep(text.slice(from));
        if (state !== "refused") fault = isLast && state === "quoted" ? (lengthFault() ?? "open_quote") : lengthFault();
      } else {
        const char = text.charCodeAt(at);
        const isSecondHalf = isAfterCr && char === LF;
        isAfterCr = char === CR;
        if (state === "quoted") {
          if (char === QUOTE) {
            keep(text.slice(from, at));
            state = "closed";
          } else if ((char === LF && !isSecondHalf) || char === CR) {
            keep(text.slice(from, at));
            from = at;
            firstEnd ??= at;
            fault = lengthFault();
            line += 1;
          }
        } else if (isSecondHalf && state === "start" && cells.length === 0) {
          from = at + 1;
        } else if (char === LF || char === CR) {
          if (state === "plain") keep(text.slice(from, at));
          from = at + 1;
          firstEnd ??= at;
          if (state !== "refused") fault = endRow();
          if (fault === undefined) beginRow();
        } else if (state === "refused") {
          // Skip the rest of the line.
        } else if (char === delimiterCode) {
          if (state === "plain") keep(text.slice(from, at));
          from = at + 1;
          endCell();
        } else if (state === "plain") {
          if (char !== QUOTE) continue;
          keep(text.slice(from, at));
          fault = quoteFault();
        } else if (char === QUOTE) {
          // At the start of a cell, a quote opens it. After another quote, it is part of the text: two mean one.
          from = state === "start" ? at + 1 : at;
          state = "quoted";
        } else {
          if (state === "closed") fault = quoteFault();
          from = at;
          state = "plain";
        }
      }
      if (fault === undefined) continue;
      refuse(fault);
      if (firstEnd === undefined) continue;
      const again = kept;
      at = firstEnd - 1;
      kept = "";
      firstEnd = undefined;
      if (again !== "") return again + text;
    }
    if (firstEnd === undefined) return "";
    kept += text.slice(firstEnd);
    firstEnd = 0;
    return "";
  }

  function* feed(text: string): Generator<void, void, void> {
    // Not put together: a text may have a fault in each of its steps.
    const waiting = [text];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.length > STEP_LENGTH) waiting.push(next.slice(STEP_LENGTH));
      const again = read(next.slice(0, STEP_LENGTH), false);
      if (again !== "") waiting.push(again);
      yield;
    }
  }

  return {
    feed,
    *end() {
      for (let rest = read("", true); rest !== ""; rest = read("", true)) yield* feed(rest);
      // The last line may lack its newline.
      yield* feed("\n");
    },
  };
}

/** A cell; undefined when it is empty and has no quotes. One letter stands for one byte. */
export type Cell = string | undefined;

type SplitterOptions = Readonly<{
  delimiter: string;
  /** A longer row is refused; it is passed over to its end without being kept. */
  bytesMax: number;
  /** `line` is the one on which the row begins; the first is 1. */
  onRow: (cells: readonly Cell[], line: number) => void;
  onFault: (code: "malformed_row" | "body_too_large", line: number) => void;
}>;

/** Takes CSV as it comes, cut anywhere. */
export type Splitter = Readonly<{ feed(text: string): void; end(): void }>;

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;

/**
 * Splits CSV (RFC 4180) into rows. A row with a fault ends at the next newline outside of quotes, so that the rows behind it are read. A
 * line may end in LF, CRLF or CR, whatever the others do; empty ones are no rows.
 */
export function createSplitter({ delimiter, bytesMax, onRow, onFault }: SplitterOptions): Splitter {
  const delimiterCode = delimiter.charCodeAt(0);
  // "closed": behind a quote in a quoted cell, which ends the cell or is the first of two.
  let state: "start" | "plain" | "quoted" | "closed" = "start";
  let cells: Cell[] = [];
  let cell = "";
  let size = 0;
  let line = 1;
  let rowLine = 1;
  let isMalformed = false;
  let isAfterCr = false;

  function keep(text: string): void {
    size += text.length;
    if (size <= bytesMax) cell += text;
  }

  function endCell(): void {
    // A row that is refused anyway is not kept.
    if (size <= bytesMax) cells.push(state === "closed" || cell !== "" ? cell : undefined);
    size += 1;
    cell = "";
    state = "start";
  }

  function endRow(): void {
    const isEmpty = state === "start" && cells.length === 0 && cell === "" && !isMalformed;
    const isTooLong = size > bytesMax;
    endCell();
    if (isTooLong) onFault("body_too_large", rowLine);
    else if (isMalformed) onFault("malformed_row", rowLine);
    else if (!isEmpty) onRow(cells, rowLine);
    cells = [];
    size = 0;
    isMalformed = false;
  }

  return {
    feed(text) {
      // Where the part of the cell begins that is not kept yet.
      let from = 0;
      for (let at = 0; at < text.length; at += 1) {
        const char = text.charCodeAt(at);
        const isSecondHalf = isAfterCr && char === LF;
        isAfterCr = char === CR;
        if (state === "quoted") {
          if (char === QUOTE) {
            keep(text.slice(from, at));
            state = "closed";
          } else if ((char === LF && !isSecondHalf) || char === CR) line += 1;
        } else if (isSecondHalf && state === "start" && cells.length === 0) {
          from = at + 1;
        } else if (char === LF || char === CR || char === delimiterCode) {
          if (state === "plain") keep(text.slice(from, at));
          from = at + 1;
          if (char === delimiterCode) endCell();
          else {
            endRow();
            line += 1;
            rowLine = line;
          }
        } else if (state === "plain") {
          if (char === QUOTE) isMalformed = true;
        } else if (char === QUOTE) {
          // The first of a cell opens it; one behind another is part of the text, as both together stand for it.
          from = state === "start" ? at + 1 : at;
          state = "quoted";
        } else {
          if (state === "closed") isMalformed = true;
          from = at;
          state = "plain";
        }
      }
      if (state === "plain" || state === "quoted") keep(text.slice(from));
    },
    end() {
      if (state === "quoted") isMalformed = true;
      if (state !== "start" || cells.length > 0) endRow();
    },
  };
}

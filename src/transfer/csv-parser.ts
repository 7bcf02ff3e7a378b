/** A cell; undefined when it is empty and has no quotes. One letter stands for one byte. */
export type Cell = string | undefined;

/**
 * Why a row is refused: a quote stands where none may; one is opened and not closed as it should, here or within the limit; there are more
 * cells than columns; it is too long.
 */
export type Fault = "stray_quote" | "open_quote" | "cells" | "length";

type SplitterOptions = Readonly<{
  delimiter: string;
  /** A longer row is refused. */
  bytesMax: number;
  /** `line` is the one on which the row begins; the first is 1. Returns what is wrong with the cells, if anything: then it counts as not called. */
  onRow: (cells: readonly Cell[], line: number) => Fault | undefined;
  /** `cells`: those that the row had so far. */
  onFault: (fault: Fault, at: Readonly<{ line: number; cells: readonly Cell[] }>) => void;
}>;

/** Takes CSV as it comes, cut anywhere. */
export type Splitter = Readonly<{ feed(text: string): void; end(): void }>;

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;

/**
 * Splits CSV (RFC 4180) into rows. A line may end in LF, CRLF or CR, whatever the others do; empty ones are no rows.
 *
 * A row with a fault is its first line alone, and reading goes on at the next line: so a quote that is never closed takes no other row along.
 * For that the text behind the first line of an open row is kept, which the limit bounds. No byte is read more than three times, whatever the
 * file holds: of two lines with an odd number of quotes the first can open a quote, and the second closes it or shows the fault.
 */
export function createSplitter({ delimiter, bytesMax, onRow, onFault }: SplitterOptions): Splitter {
  const delimiterCode = delimiter.charCodeAt(0);
  // "closed": behind a quote in a quoted cell, which ends the cell or is the first of two. "refused": in the rest of the line of a faulty row.
  let state: "start" | "plain" | "quoted" | "closed" | "refused" = "start";
  let cells: Cell[] = [];
  let cell = "";
  let size = 0;
  let line = 1;
  let rowLine = 1;
  let isAfterCr = false;
  // Where the newline stands that ended the first line of the open row, in the piece at hand; in `kept` when pieces before it have some of the text from there on.
  let firstEnd: number | undefined;
  let kept = "";

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

  function endRow(): Fault | undefined {
    const isEmpty = state === "start" && cells.length === 0;
    endCell();
    return isEmpty ? undefined : (lengthFault() ?? onRow(cells, rowLine));
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
    onFault(fault, { line: rowLine, cells });
    state = "refused";
    line = rowLine;
    isAfterCr = false;
  }

  function read(piece: string, isLast: boolean): void {
    let text = piece;
    // Where the part of the cell begins that is not kept yet.
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
          // Whatever stands in the rest of its line.
        } else if (char === delimiterCode) {
          if (state === "plain") keep(text.slice(from, at));
          from = at + 1;
          endCell();
        } else if (state === "plain") {
          if (char !== QUOTE) continue;
          keep(text.slice(from, at));
          fault = quoteFault();
        } else if (char === QUOTE) {
          // The first of a cell opens it; one behind another is part of the text, as both together stand for it.
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
      if (kept !== "") text = kept + text.slice(firstEnd);
      at = (kept === "" ? firstEnd : 0) - 1;
      kept = "";
      firstEnd = undefined;
    }
    if (firstEnd === undefined) return;
    kept += text.slice(firstEnd);
    firstEnd = 0;
  }

  return {
    feed: (text) => read(text, false),
    end() {
      read("", true);
      // The last line may have no end of its own.
      read("\n", false);
    },
  };
}

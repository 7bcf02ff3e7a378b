import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { CsvParser } from "../../src/files/csv-parser.ts";
import type { Bytes } from "../../src/files/bytes.ts";
import { readFile } from "../../src/files/read-file.ts";
import { createFindings } from "../../src/files/row.ts";
import type { Row, Rows } from "../../src/files/row.ts";
import { parsePlant } from "../../src/domain/validation.ts";
import { seedOf } from "../support/random.ts";
import { rejectionOf } from "../support/rejection.ts";

const seed = seedOf("damaged");
const LINE_BYTES_MAX = 300;

function readCsv(bytes: Bytes): Rows {
  return readFile({ format: "csv", bytes }, { parsePlant, lineBytesMax: LINE_BYTES_MAX }, createFindings());
}

/** The rows of a file that arrives in pieces of this size. */
async function rowsOf(text: string, pieceBytes = Infinity): Promise<Row[]> {
  const bytes = Buffer.from(text);
  async function* come(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const rows: Row[] = [];
  for await (const some of readCsv(come())) rows.push(...some);
  return rows;
}

/** A line of a file as it was meant: its text, and its plant if it has one. */
type Written = Readonly<{ text: string; plant?: Readonly<{ id: bigint; name: string; tag?: string }> }>;

const newline = fc.constantFrom("\n", "\r\n", "\r");

/** Text for a quoted cell. It begins with a letter: otherwise it can look to an unclosed quote like the end of a cell. */
const quotedText = fc
  .tuple(fc.constantFrom("a", "é", "🌿"), fc.array(fc.constantFrom("b", ",", '"', "\n", "\r\n", " ", "é", '","', ',"\n'), { maxLength: 6 }))
  .map(([first, rest]) => first + rest.join(""));
const plainText = fc
  .array(fc.constantFrom("a", " ", "é", "🌿", "'", "\\", ";"), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(""));

function cellOf(text: fc.Arbitrary<string>, toCell: (text: string) => string) {
  return text.map((one) => ({ text: one, cell: toCell(one) }));
}
const cell = fc.oneof(
  cellOf(plainText, (text) => text),
  cellOf(quotedText, (text) => `"${text.replaceAll('"', '""')}"`),
);

const goodRow = fc.tuple(cell, fc.option(cell, { nil: undefined })).map(([name, tag]) => (id: number): Written => ({
  text: `${id},${name.cell},${tag?.cell ?? ""}`,
  plant: { id: BigInt(id), name: name.text, ...(tag ? { tag: tag.text } : {}) },
}));

/** Damaged lines, none of which can be read as the end of an unclosed quote in another line. */
const badRow = fc
  .constantFrom(
    '9,"open',
    '9,"open,x',
    '9,a,"open',
    '9,in"side,x',
    '9,"a"b,x',
    '9,"a" "b",x',
    "9,a,x,more",
    "garbage",
    '"9,a,x',
    'x"y',
    '9,"""open',
  )
  .map((text) => (): Written => ({ text }));

const file = fc
  .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: goodRow }, { weight: 1, arbitrary: badRow }), newline), { minLength: 1, maxLength: 30 })
  .map((rows) => {
    const written = rows.map(([row, end], at) => ({ ...row(1000 + at), end }));
    return { written, text: `id,name,tag\n${written.map(({ text, end }) => text + end).join("")}` };
  });

const plantOf = (row: Row) => ("plant" in row ? row.plant : undefined);
const linesIn = (text: string) => text.split(/\r\n|\r|\n/).length - 1;

describe("a damaged CSV file", () => {
  it("loses no well-formed row, and refuses each damaged line once, by its number", async () => {
    await fc.assert(
      fc.asyncProperty(file, async ({ written, text }) => {
        const rows = await rowsOf(text);
        expect(rows.map(plantOf)).toEqual(written.map(({ plant }) => plant) as never);
        let line = 2;
        for (const [at, { text: row, end }] of written.entries()) {
          expect(rows[at]!.line).toBe(line);
          line += linesIn(row + end);
        }
      }),
      { seed, numRuns: 500 },
    );
  });

  it("accounts for every line with a quote added or removed anywhere: each begins a row, or is part of an accepted plant", async () => {
    await fc.assert(
      fc.asyncProperty(file, fc.nat(), fc.constantFrom("", '"', '""', "\n", ","), async ({ text }, place, put) => {
        const body = "id,name,tag\n".length;
        const at = body + (place % (text.length - body));
        const damaged = text.slice(0, at) + put + text.slice(put === "" ? at + 1 : at);
        const rows = await rowsOf(damaged);
        const begins = new Map(rows.map((row) => [row.line, row]));
        let until = 0;
        for (const [index, content] of damaged.split(/\r\n|\r|\n/).entries()) {
          const row = begins.get(index + 1);
          if (row && "plant" in row) until = row.line + linesIn(`${row.plant.name}${row.plant.tag ?? ""}`);
          // A row that is well-formed CSV, but not a plant, may span several lines.
          else if (row && (row.refusal.code === "invalid_body" || / cells for /.test(row.refusal.message))) until = Infinity;
          else if (row) until = row.line;
          if (index > 0 && content !== "") expect(index + 1 <= until, `line ${index + 1} of ${JSON.stringify(damaged)}`).toBe(true);
        }
        expect(rows.map(({ line }) => line)).toEqual([...begins.keys()].toSorted((left, right) => left - right));
      }),
      { seed, numRuns: 500 },
    );
  });

  it("reads the same in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 9 }), fc.nat(400), async ({ text }, pieceBytes, long) => {
        const padded = `${text}7,"${"x".repeat(long)}\n${"y".repeat(long)}`;
        expect(await rowsOf(padded, pieceBytes)).toEqual(await rowsOf(padded));
      }),
      { seed, numRuns: 200 },
    );
  });

  it("is read on after a quote that is never closed, in a file far longer than a row may be", async () => {
    const rows = Array.from({ length: 1000 }, (_, at) => `${at},plant ${at},\n`);
    const read = await rowsOf(`id,name,tag\n0,"open,\n${rows.join("")}`);
    expect(read.filter((row) => "refusal" in row).map(({ line }) => line)).toEqual([2]);
    expect(read).toHaveLength(1001);
  });
});

/** How many bytes are looked at, one by one, to split a file. */
function workFor(text: string, pieceLength: number): number {
  const original = String.prototype.charCodeAt;
  let count = 0;
  const parser = new CsvParser({ delimiter: ",", bytesMax: 4096 });
  function counted(this: string, at: number): number {
    count += 1;
    return original.call(this, at);
  }
  Object.assign(String.prototype, { charCodeAt: counted });
  try {
    for (let at = 0; at < text.length; at += pieceLength) Array.from(parser.read(text.slice(at, at + pieceLength)));
    Array.from(parser.end());
  } finally {
    Object.assign(String.prototype, { charCodeAt: original });
  }
  return count;
}

describe("the work for a damaged file", () => {
  const lines = {
    "a quote that is opened in each line": () => '1,"a\n',
    "one in every hundredth": (at: number) => (at % 100 === 0 ? '1,"a\n' : "1,a\n"),
    "one in every hundredth, and quoted cells": (at: number) => (at % 100 === 0 ? '1,"a\n' : '1,",",""\n'),
    "quotes that end one cell and begin another": () => ',","\n',
    "two quotes a line": () => '1,"""a\n',
    "a quote alone": () => '"\n',
    "empty quoted cells": () => '"","",""\n',
    "a quote that is opened behind a cell over two lines": () => '1,"a\nb","c\n',
    "rows with too many cells behind such a cell": (at: number) => (at % 2 === 0 ? '1,"a\n' : '2,b",,,,,,\n'),
  } as const;
  for (const [what, line] of Object.entries(lines)) {
    it(`is at most three looks at each byte: ${what}`, () => {
      for (const pieceLength of [100, 20_000]) {
        const text = Array.from({ length: 10_000 }, (_, at) => line(at)).join("");
        expect(workFor(text, pieceLength) / text.length).toBeLessThanOrEqual(3.01);
      }
    });
  }

  it("needs no more of a file without an end of line than a row may have", async () => {
    let bytes = 0;
    async function* endless(): AsyncGenerator<Uint8Array, void, void> {
      // So that a reader that wants all of it ends too.
      for (; bytes < 20_000_000; bytes += 10_000) yield new Uint8Array(10_000).fill(0x78);
    }
    const rows = readCsv(endless());
    expect(await rejectionOf(Array.fromAsync(rows))).toMatchObject({ code: "invalid_csv_header" });
    expect(bytes).toBeLessThan(500_000);
  });

  it("is at most three looks at each byte of random lines", () => {
    const parts = ['"', '""', ",", "a", '","', ',"', '",'];
    fc.assert(
      fc.property(fc.array(fc.array(fc.constantFrom(...parts), { maxLength: 5 }), { minLength: 1, maxLength: 40 }), (pattern) => {
        const once = pattern.map((line) => `${line.join("")}\n`).join("");
        const text = once.repeat(Math.ceil(20_000 / once.length));
        expect(workFor(text, 4096) / text.length).toBeLessThanOrEqual(3.1);
      }),
      { seed, numRuns: 100 },
    );
  });
});

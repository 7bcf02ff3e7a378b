import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { splitList } from "../../src/client/json-list.ts";
import { seedOf } from "../support/random.ts";

const seed = seedOf("json list");

/** The lines that come of a list, which arrives in pieces of so many bytes. */
async function linesOf(text: string, pieceBytes: number): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const lines = await new Blob(await Array.fromAsync(splitList(pieces()))).text();
  return lines.split("\n").filter((line) => line.trim() !== "");
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

const anyItem = fc.oneof(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 3 })), fc.array(fc.string()));
const anyList = fc.record({
  items: fc.array(anyItem),
  indent: fc.integer({ min: 0, max: 2 }),
  pieceBytes: fc.integer({ min: 1, max: 50 }),
});

describe("a JSON list as lines", () => {
  it("has each of its items on a line, in order, wherever it is cut into pieces", async () => {
    const property = fc.asyncProperty(anyList, async ({ items, indent, pieceBytes }) => {
      const lines = await linesOf(` \n${JSON.stringify(items, undefined, indent)}\r\n`, pieceBytes);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(items)));
    });
    await fc.assert(property, { seed });
  });

  it("has its first items when it is cut off, and then one line that is no JSON", async () => {
    const property = fc.asyncProperty(anyList, fc.nat(), async ({ items, indent, pieceBytes }, at) => {
      const text = JSON.stringify(items, undefined, indent);
      const end = 1 + (at % (text.length - 1));
      const lines = await linesOf(text.slice(0, end), pieceBytes);
      const whole = lines.slice(0, -1);
      expect(isJson(lines.at(-1)!)).toBe(false);
      expect(whole.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(items.slice(0, whole.length))));
    });
    await fc.assert(property, { seed });
  });

  for (const { text, lines, why } of [
    { text: "[]", lines: [], why: "the list is empty" },
    { text: "[{},]", lines: ["{}", ","], why: "a comma is behind the last item" },
    { text: "[,{}]", lines: [",", "{}"], why: "a comma is before the first item" },
    { text: "[{},,[]]", lines: ["{}", ",", "[]"], why: "an item is missing" },
    { text: "[{}] {}\n{}", lines: ["{}", "]{}\t{}"], why: "something else follows the list" },
    { text: "[{}][{}]", lines: ["{}", "][{}]"], why: "another list follows the list" },
    { text: '[{"a":1],{}]', lines: ['{"a":1]', "{}"], why: "brackets do not match" },
    { text: "[},{}]", lines: ["}", "{}"], why: "a bracket is closed that was not opened" },
    { text: '["a\nb",{}]', lines: ['"a\tb"', "{}"], why: "a text has a newline" },
  ]) {
    it(`loses nothing without a word where ${why}`, async () => {
      for (const pieceBytes of [1, 100]) expect(await linesOf(text, pieceBytes)).toEqual(lines);
    });
  }
});

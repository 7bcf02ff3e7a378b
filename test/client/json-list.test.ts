import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { detectFormat, HEAD_BYTES } from "../../src/client/file-format.ts";
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

/** A member that is no list of objects, though it may hold one. */
const anyValue = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.array(fc.string()),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
);
const anyObject = fc.record({
  before: fc.dictionary(fc.string({ unit: "binary" }), anyValue),
  items: fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), { minLength: 1 }),
  after: fc.dictionary(fc.string({ unit: "binary" }), anyValue),
  indent: fc.integer({ min: 0, max: 2 }),
  pieceBytes: fc.integer({ min: 1, max: 50 }),
});

/** Its text: an object of JavaScript would put members that are numbers first. */
function textOf({
  before,
  items,
  after,
  indent,
}: Readonly<Record<"before" | "after", object> & { items: unknown; indent: number }>): string {
  const members = [...Object.entries(before), ["", items], ...Object.entries(after)];
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value, undefined, indent)}`).join(",\n")}}`;
}

describe("a JSON list in an object as lines", () => {
  it("has each of its items on a line, in order, whatever the other members are, and wherever it is cut into pieces", async () => {
    const property = fc.asyncProperty(anyObject, async (object) => {
      const lines = await linesOf(` ${textOf(object)}\n`, object.pieceBytes);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(object.items)));
    });
    await fc.assert(property, { seed });
  });

  it("has a line that is no JSON when the object is cut off", async () => {
    const property = fc.asyncProperty(anyObject, fc.nat(), async (object, at) => {
      const text = textOf(object);
      const lines = await linesOf(text.slice(0, 1 + (at % (text.length - 1))), object.pieceBytes);
      expect(isJson(lines.at(-1)!)).toBe(false);
    });
    await fc.assert(property, { seed });
  });

  for (const { text, lines, why } of [
    { text: '{"a":[{}],"b":[{"c":1}]}', lines: ["{}", ']{"c":1}]}'], why: "another list of objects follows" },
    { text: '{"a":[{}]} {"a":[{}]}', lines: ["{}", ']{"a":[{}]}'], why: "another object follows" },
    { text: '{"a":[{},1]}', lines: ["{}", "1"], why: "an item is no object" },
    { text: '{"a":1}', lines: ["{"], why: "there is no list" },
    { text: '{"a":{"b":[{}]}}', lines: ["{"], why: "the list is deeper" },
    { text: '{"a":[]}', lines: [], why: "the list is empty" },
  ]) {
    it(`loses nothing without a word where ${why}`, async () => {
      for (const pieceBytes of [1, 100]) expect(await linesOf(text, pieceBytes)).toEqual(lines);
    });
  }
});

describe("a file that begins with an object", () => {
  const long = "x".repeat(HEAD_BYTES);
  for (const [what, text, format] of [
    ["around a list of plants", '{"plants":[{"id":1,"name":"a"}]}', "list"],
    ["over several lines", '{\n  "count": 1,\n  "plants": [\n    {\n', "list"],
    ["with a name, and features, as GeoJSON", '{"type":"FeatureCollection","name":"a","features":[{"id":1}]}', "list"],
    ["with other lists before", '{"id":"list 7","codes":[1],"none":[],"text":"[{","plants":[{"id":1', "list"],
    ["that is a plant", '{"id":1,"name":"a","tag":"x"}', "ndjson"],
    ["that is a plant with a list of objects", '{"id":1,"name":"a","synonyms":[{"name":"b"}]}', "ndjson"],
    ["that is a plant with its id at the end", '{"name":"a","synonyms":[{"name":"b"}],"id":1}', "ndjson"],
    ["that is a plant longer than what is looked at", `{"id":1,"synonyms":[{"name":"${long}"}],"name":"a"}`, "ndjson"],
    ["before another one", '{"name":"a","synonyms":[{"name":"b"}]}\r\n{"name":"c"}', "ndjson"],
    ["with a list of texts", '{"name":"a","synonyms":["b",{}]}', "ndjson"],
    ["with a text that is cut off", `{"name":"a","synonyms":["${long}[{`, "ndjson"],
    ["with a text that looks like a list", '{"name":"a","tag":"\\":[{"}', "ndjson"],
  ] as const)
    it(`${what} is ${format === "list" ? "a list" : "NDJSON"}`, () => {
      expect(detectFormat("a.json", new TextEncoder().encode(text))).toBe(format);
      expect(detectFormat("a.ndjson", new TextEncoder().encode(text))).toBe("ndjson");
    });
});

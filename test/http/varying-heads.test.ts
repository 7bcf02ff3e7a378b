import { describe, expect, it } from "bun:test";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { createHeadParser } from "../../src/http/wire/head.ts";
import type { HeadParser } from "../../src/http/wire/head.ts";

const VALUE = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const OTHER = `00-${"c".repeat(32)}-${"d".repeat(16)}-00`;
const LINE = `traceparent: ${VALUE}`;

/** Heads with a line about a trace, by what is odd about it. */
const HEADS: ReadonlyArray<readonly [what: string, lines: readonly string[]]> = [
  ["in the middle", ["Host: x", LINE, "A: 1"]],
  ["at the beginning", [LINE, "Host: x"]],
  ["alone, without a host", [LINE]],
  ["in capitals", ["Host: x", LINE.toUpperCase(), "A: 1"]],
  ["twice", ["Host: x", LINE, `traceparent: ${OTHER}`]],
  ["twice, one of them odd", ["Host: x", LINE, "traceparent: odd"]],
  ["with more spaces", ["Host: x", `traceparent:  ${VALUE} `, "A: 1"]],
  ["that goes on in the next line", ["Host: x", LINE, " more"]],
  ["that is longer", ["Host: x", `${LINE}-more`]],
  ["in the value of another", ["Host: x", `A: traceparent: ${VALUE}`]],
  ["with a name that only ends so", ["Host: x", `x-${LINE}`]],
  ["before a line that is none", ["Host: x", LINE, "none"]],
  ["before a control character", ["Host: x", LINE, "A: \u0001"]],
  ["between two lengths", ["Host: x", "Content-Length: 1", LINE, "Content-Length: 2"]],
  ["beside a state and an id", ["X-Request-Id: one.2-3_4", "Host: x", LINE, "tracestate: a=1, b@c=x y", "x-request-id: two"]],
  ["beside a state that is empty", ["Host: x", "tracestate:", LINE, "tracestate: "]],
  ["beside a state with a tab at its end", ["Host: x", "tracestate: a=1\t", LINE]],
  ["with a body and an end", ["Host: x", "Transfer-Encoding: chunked", LINE, "Connection: close"]],
];

/** What a parser understands of a head: its fields and framing, or its error. */
function understand(lines: readonly string[], parse: HeadParser): unknown {
  const names = [...new Set(lines.map((line) => line.slice(0, Math.max(0, line.indexOf(":"))).toLowerCase())), "traceparent"];
  try {
    const { section } = parse(["GET / HTTP/1.1", ...lines].join("\r\n"));
    const { fields, framing, isKeepAlive } = section;
    return { fields: names.filter((name) => name !== "x-long").map((name) => [name, fields.get(name)]), framing, isKeepAlive };
  } catch (reason) {
    return reason instanceof PlantStoreError ? reason.code : reason;
  }
}

/** The heads that are understood in another way than one that is too long to be remembered. */
function findDifferences(): string[] {
  const parse = createHeadParser();
  const plain = createHeadParser();
  return HEADS.filter(([, lines]) => {
    const whole = JSON.stringify(understand([...lines, `X-Long: ${"x".repeat(1000)}`], plain));
    // Also when the others are remembered, and when this very head is.
    return [1, 2].some(() => JSON.stringify(understand(lines, parse)) !== whole);
  }).map(([what]) => what);
}

describe("a head with a line about a trace", () => {
  it("is understood like one of which nothing is remembered", () => {
    expect(findDifferences()).toEqual([]);
  });

  it("has its own value, whatever the others had before", () => {
    const parse = createHeadParser();
    const find = (value: string) => parse(`GET / HTTP/1.1\r\nHost: x\r\ntraceparent: ${value}`).section.fields.get("traceparent");
    expect([VALUE, OTHER, VALUE].map(find)).toEqual([VALUE, OTHER, VALUE]);
    expect(parse("GET / HTTP/1.1\r\nHost: x").section.fields.get("traceparent")).toBeNull();
  });
});

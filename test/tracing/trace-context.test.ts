import { describe, expect, it } from "bun:test";
import { findParent } from "../../src/tracing/trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

function find(traceparent: string | null, tracestate: string | null = null) {
  return findParent({ get: (name) => ({ traceparent, tracestate })[name] ?? null });
}

describe("a traceparent", () => {
  for (const [text, isSampled] of [
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-fe`, false],
    [`cc-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, true],
  ] as const) {
    it(`is understood: ${text}`, () => {
      expect(find(text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled, state: undefined });
    });
  }

  for (const [why, text] of [
    ["is not there", null],
    ["is empty", ""],
    ["has version ff", `ff-${TRACE}-${SPAN}-01`],
    ["of a later version goes on without a hyphen", `cc-${TRACE}-${SPAN}-01.more`],
    ["has a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["has a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["has capital letters", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["has a short trace", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["has no flags", `00-${TRACE}-${SPAN}`],
    ["was sent twice", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ] as const) {
    it(`is none if it ${why}`, () => {
      expect(find(text, "a=1")).toBeUndefined();
    });
  }
});

describe("a tracestate", () => {
  const list = (count: number) => Array.from({ length: count }, (_, at) => `k${at}=v`).join();

  for (const text of ["a=1", "a=1,b=2", "a=1, ,b=2\t", "tenant@system=x y", "0t@s=!", "a/b*c-d_e=,".slice(0, -1) + "1", list(32)]) {
    it(`is passed on as it is: ${text}`, () => {
      expect(find(`00-${TRACE}-${SPAN}-01`, text)!.state).toBe(text);
    });
  }

  for (const [why, text] of [
    ["is empty", ""],
    ["has a member without a value", "a"],
    ["has a key with a capital letter", "A=1"],
    ["has a key that begins with a digit and names no system", "0a=1"],
    ["has a value with an equals sign", "a=b=c"],
    ["has a value beyond ASCII", "a=\u00e9"],
    ["has a key of 257 characters", `${"a".repeat(257)}=1`],
    ["has 33 members", list(33)],
    ["has 513 characters", `a=${"x".repeat(250)},b=${"x".repeat(250)},c=${"x".repeat(5)}`.padEnd(513, "x")],
  ] as const) {
    it(`is dropped if it ${why}, and its trace goes on`, () => {
      expect(find(`00-${TRACE}-${SPAN}-01`, text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true, state: undefined });
    });
  }
});

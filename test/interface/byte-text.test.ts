import { expect, it } from "bun:test";
import { toBytes, toByteText } from "../../src/files/encodings.ts";

it("each byte has its own letter, the one of ASCII if there is one, and can be read back", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const text = toByteText(bytes);
  expect(new Set(text).size).toBe(256);
  expect(text.slice(0, 128)).toBe(String.fromCharCode(...bytes.subarray(0, 128)));
  expect(toBytes(text)).toEqual(bytes);
});

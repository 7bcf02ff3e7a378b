import { describe, expect, it } from "bun:test";
import { createFileEnd } from "../../src/client/file-end.ts";
import type { FileFormat } from "../../src/client/file-format.ts";

const LAST = "-5";

const FILES: Readonly<Record<string, { format: FileFormat; text: string }>> = {
  NDJSON: { format: "ndjson", text: '{"id":-55,"name":"Ficus"}\n{"id":-5,"name":"Ficus é\\n{","tag":"-5"}\n' },
  "NDJSON of one plant": { format: "ndjson", text: '{"id":-5,"name":"🌵"}\n' },
  CSV: { format: "csv", text: 'id,name,tag\n-55,"Ficus\n-4,",-5\n-5,"Ficus ""é""",🌵\n' },
  "CSV with the terms of Darwin Core": { format: "csv", text: "catalogNumber,scientificName,tag\n-5,Ficus,\n" },
};

function isWhole(pieces: readonly Uint8Array[], { format }: { format: FileFormat }): boolean {
  const end = createFileEnd(format, LAST);
  for (const piece of pieces) end.look(piece);
  return end.isReached();
}

for (const [name, file] of Object.entries(FILES)) {
  const bytes = Buffer.from(file.text);
  const places = Array.from(bytes.keys());

  describe(`the end of ${name}`, () => {
    it("is found in whatever two pieces the file arrives", () => {
      expect(places.filter((at) => !isWhole([bytes.subarray(0, at), bytes.subarray(at)], file))).toEqual([]);
    });

    it("is found byte by byte", () => {
      expect(
        isWhole(
          places.map((at) => bytes.subarray(at, at + 1)),
          file,
        ),
      ).toBe(true);
    });

    it("is not found where the file broke off, wherever that was", () => {
      expect(places.filter((at) => isWhole([bytes.subarray(0, at)], file))).toEqual([]);
    });
  });
}

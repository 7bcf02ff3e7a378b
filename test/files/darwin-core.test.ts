import { describe, expect, it } from "bun:test";
import { readArchive } from "../../src/files/darwin-core.ts";
import type { Archive } from "../../src/files/darwin-core.ts";
import { openZip, textOf } from "../../src/files/zip.ts";
import { makeZip } from "../support/shelf/workbook.ts";

const TERMS = "http://rs.tdwg.org/dwc/terms/";
const FILE = "<files><location>taxa/list.tsv</location></files>";
const CORE = `<core rowType="${TERMS}Taxon" fieldsTerminatedBy="\\t" fieldsEnclosedBy="">${FILE}<id index="0"/><field index="1" term="${TERMS}scientificName"/></core>`;

async function read(
  meta: string | Uint8Array,
  others: Readonly<Record<string, string>> = { "taxa/list.tsv": "1\tAcer" },
  path = "meta.xml",
) {
  const file = new Blob([Buffer.from(makeZip({ [path]: meta, ...others }))]);
  return readArchive(file, await openZip(file));
}

const coreOf = (attributes: string, inside = ""): Promise<Archive | undefined> =>
  read(`<archive><core rowType="${TERMS}Taxon" ${attributes}>${FILE}${inside}</core></archive>`);

describe("an archive of Darwin Core", () => {
  it("is read as its meta.xml says, which names columns by index, defaults, and other tables", async () => {
    const fields = `<field index="3" term="${TERMS}scientificName"/><field term='${TERMS}family' default="Rosaceae" index='1'/><field default="accepted" term="${TERMS}taxonomicStatus"/>`;
    const core = `<core encoding="ISO-8859-1" fieldsTerminatedBy="|" linesTerminatedBy="\\r\\n" ignoreHeaderLines="2" rowType="${TERMS}Taxon">${FILE}<id index="0"/>${fields}</core>`;
    const extensions = ["http://rs.gbif.org/terms/1.0/VernacularName", "http://rs.gbif.org/terms/1.0/Distribution"].map(
      (type) => `<extension rowType="${type}"><files><location>x.txt</location></files><coreid index="0"/></extension>`,
    );
    const archive = await read(`<archive xmlns="http://rs.tdwg.org/dwc/text/">${core}${extensions.join("")}</archive>`);
    expect(archive).toEqual({
      name: "taxa/list.tsv",
      bytes: expect.any(Function),
      encoding: "windows-1252",
      separator: "|",
      quotes: "double",
      skippedLines: 2,
      headings: ["taxonID", "family", "", "scientificName"],
      defaults: [
        { heading: "family", text: "Rosaceae", at: 1 },
        { heading: "taxonomicStatus", text: "accepted" },
      ],
      extensions: ["VernacularName", "Distribution"],
    });
    expect(await textOf(archive!.bytes(), 100)).toBe("1\tAcer");
    expect(await textOf(archive!.bytes(), 100)).toBe("1\tAcer");
  });

  it("is what the standard says where its meta.xml says nothing", async () => {
    expect(await coreOf("")).toMatchObject({
      encoding: "utf-8",
      separator: ",",
      quotes: "double",
      skippedLines: 0,
      headings: [],
      extensions: [],
    });
  });

  it("may lie in a folder, have prefixes, comments, and a mark of its encoding", async () => {
    const prefixed = CORE.replaceAll(/<(\/?)(\w)/g, "<$1d:$2");
    const meta = `\ufeff<?xml version="1.0" encoding="utf-8"?><d:archive xmlns:d="http://rs.tdwg.org/dwc/text/"><!-- <core/> -->${prefixed}</d:archive>`;
    const files = { "dwca-1.2/taxa/list.tsv": "1\tAcer", "__MACOSX/meta.xml": "x" };
    expect(await read(meta, files, "dwca-1.2/meta.xml")).toMatchObject({
      name: "dwca-1.2/taxa/list.tsv",
      separator: "\t",
      quotes: "none",
      headings: ["taxonID", "scientificName"],
    });
  });

  it("names the column of ids by what they are, unless that is a column of a term", async () => {
    const named = await read(`<archive>${CORE.replace("Taxon", "Occurrence")}</archive>`);
    expect(named?.headings).toEqual(["occurrenceID", "scientificName"]);
    expect((await coreOf("", `<id index="0"/><field index="0" term="${TERMS}catalogNumber"/>`))?.headings).toEqual(["catalogNumber"]);
  });

  it("is none without a meta.xml", async () => {
    expect(await read("<archive/>", {}, "a/b/meta.xml")).toBeUndefined();
  });

  for (const [what, meta, says] of [
    ["names a file that is not in it", `<archive>${CORE.replace("taxa/", "../")}</archive>`, "lacks the file ../list.tsv"],
    ["has a core of several files", `<archive>${CORE.replace(FILE, FILE + FILE)}</archive>`, "is 2 files, and must be one"],
    ["has a core without a file", `<archive>${CORE.replace(FILE, "")}</archive>`, "is 0 files, and must be one"],
    ["has no core", "<archive></archive>", "names no core"],
    ["has another separator", `<archive>${CORE.replace("\\t", "::")}</archive>`, 'fieldsTerminatedBy "::", which must be a comma'],
    ["has other quotes", `<archive>${CORE.replace('By=""', 'By="\'"')}</archive>`, `fieldsEnclosedBy "'", which must be`],
    ["has other line ends", `<archive>${CORE.replace("<core", '<core linesTerminatedBy="~"')}</archive>`, 'linesTerminatedBy "~", which'],
    ["has an unknown encoding", `<archive>${CORE.replace("<core", '<core encoding="EBCDIC"')}</archive>`, 'encoding "EBCDIC", which'],
    ["skips less than no line", `<archive>${CORE.replace("<core", '<core ignoreHeaderLines="-1"')}</archive>`, "ignoreHeaderLines"],
    ["has a column far to the right", `<archive>${CORE.replace('"1"', '"999999999"')}</archive>`, 'index "999999999"'],
    ["has an id without a column", `<archive>${CORE.replace('<id index="0"', "<id ")}</archive>`, 'index "", which'],
    ["is cut off", `<archive>${CORE.slice(0, -3)}`, "incomplete"],
    ["is in UTF-16", Buffer.from(`\ufeff<archive>${CORE}</archive>`, "utf16le"), "not UTF-8"],
    ["is too large", " ".repeat(2_000_000), "larger than can be read"],
    [
      "names an entity of its own",
      `<!DOCTYPE a [<!ENTITY x "list">]><archive>${CORE.replace("list", "&x;")}</archive>`,
      "lacks the file taxa/&x;.tsv",
    ],
  ] as const)
    it(`is refused, with the reason, if its meta.xml ${what}`, async () => {
      const reason = await read(meta).catch(String);
      expect(reason).toMatch(/^TableError: /);
      expect(reason).toContain(says);
    });
});

import { gzipSync } from "node:zlib";
import { inForm } from "../run-form.ts";
import { makeWorkbook, makeZip } from "./workbook.ts";

/** A table as people have it, and what becomes of its rows in an empty store. */
export type Table = Readonly<{
  /** What it is. */
  what: string;
  /** The name of the file. */
  name: string;
  make: () => Uint8Array;
  /** Whether it has no ids, so that they are made from its content. */
  hasNoIds?: boolean;
  /** Whether its first line is a plant. */
  hasNoHeader?: boolean;
  created: number;
  /** Rows that are equal to an earlier one. */
  unchanged?: number;
  /** The lines of the refused rows. */
  refused?: readonly number[];
  /** The names of plants that are stored then. */
  names: readonly string[];
  /** Columns that are not imported. */
  unused?: readonly string[];
  encoding?: "utf-16le" | "utf-16be" | "windows-1252";
}>;

/** The letters of Windows-1252 that Latin-1 does not have. */
const WINDOWS: Readonly<Record<string, number>> = { "€": 0x80, "’": 0x92, "–": 0x96, œ: 0x9c };

function windows1252(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => WINDOWS[letter] ?? letter.charCodeAt(0));
}

function utf16(text: string, { isBigEndian = false } = {}): Uint8Array {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
}

function lines(rows: readonly string[], end = "\n"): string {
  return `${rows.join(end)}${end}`;
}

function times<Value>(count: number, make: (at: number) => Value): Value[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** The rows of the largest table: all of them take minutes in a browser. */
const MANY = inForm(10_000, 1_000_000);

export const TABLES: readonly Table[] = [
  {
    what: "CSV of a German Excel",
    name: "pflanzen.csv",
    make: () =>
      windows1252(
        lines(["Nr.;Pflanzenname;Gruppe;Standort;Preis", "1;Bärlauch;Kräuter;Süd;3 €", '2;"Rose; gefüllt";;Nord;5', "3;Weißdorn"], "\r\n"),
      ),
    created: 3,
    names: ["Bärlauch", "Rose; gefüllt", "Weißdorn"],
    unused: ["Standort", "Preis"],
    encoding: "windows-1252",
  },
  {
    what: "CSV of a French Excel",
    name: "plantes.csv",
    make: () =>
      windows1252(
        lines(["N°;Nom de la plante;Famille;Lieu", "1;Œillet d’Inde;Astéracées;Est".replace("Œ", "œ"), "2;Châtaignier;Fagacées;"], "\r\n"),
      ),
    created: 2,
    names: ["œillet d’Inde", "Châtaignier"],
    unused: ["Lieu"],
    encoding: "windows-1252",
  },
  {
    what: "a workbook of a Spanish Excel",
    name: "plantas.xlsx",
    make: () =>
      makeWorkbook(
        [
          ["Número", "Nombre científico", "Categoría", undefined, "Ubicación"],
          [1, "Opuntia ficus-indica", "cactus", undefined, "Sur"],
          [],
          [2, { type: "inlineStr", xml: "<is><r><t>Agave </t></r><r><t>americana</t></r></is>" }, "", undefined, 3.5],
          [3, '¡Olé! <b> & "ñ"', "cactus"],
        ],
        { others: ["Viejo"] },
      ),
    created: 3,
    names: ["Opuntia ficus-indica", "Agave americana", '¡Olé! <b> & "ñ"'],
    unused: ["column 4", "Ubicación"],
  },
  {
    what: "Unicode text of Excel",
    name: "unicode.txt",
    make: () => utf16(lines(["Id\tName\tTag", "1\t银杏 🌿\ttree", '2\t"Rosa ""Peace"""\t'], "\r\n")),
    created: 2,
    names: ["银杏 🌿", 'Rosa "Peace"'],
    encoding: "utf-16le",
  },
  {
    what: "UTF-16 in the other order",
    name: "big-endian.csv",
    make: () => utf16(lines(["id;name", "1;Ясень", "2;Клён"]), { isBigEndian: true }),
    created: 2,
    names: ["Ясень", "Клён"],
    encoding: "utf-16be",
  },
  {
    what: "CSV UTF-8 of Excel, with a mark and its separator named",
    name: "sep.csv",
    make: () => Buffer.from(`\ufeff${lines(["sep=;", "Artikelnummer;Bezeichnung;Schlagwort", "4711;Ahorn, rot;Baum"], "\r\n")}`),
    created: 1,
    names: ["Ahorn, rot"],
  },
  {
    what: "CSV of Google Sheets",
    name: "Plants - Sheet1.csv",
    make: () =>
      Buffer.from(
        'Plant ID,Plant name,Category,Notes\r\n1,"Fern, hardy",shade,"two\nlines"\r\n2,Hosta,shade,\r\n,,,\r\n3,Iris,,"a ""quote"""',
      ),
    created: 3,
    refused: [5],
    names: ["Fern, hardy", "Hosta", "Iris"],
    unused: ["Notes"],
  },
  {
    what: "tabs of Google Sheets",
    name: "Plants - Sheet1.tsv",
    make: () => Buffer.from(lines(["number\tspecies\tfamily", "10\tAcer palmatum\tSapindaceae", "11\tSalix alba\tSalicaceae"], "\r\n")),
    created: 2,
    names: ["Acer palmatum", "Salix alba"],
  },
  {
    what: "CSV of LibreOffice with quotes around all text",
    name: "libreoffice.csv",
    make: () => Buffer.from(lines(['"id","name","tag"', '1,"Linde",""', '2,"Buche","Baum"'])),
    created: 2,
    names: ["Linde", "Buche"],
  },
  {
    what: "a workbook of LibreOffice",
    name: "libreoffice.xlsx",
    make: () =>
      makeWorkbook(
        [
          ["id", "name", "tag"],
          [1, "Eibe", "Baum"],
          [2, "Efeu"],
        ],
        { isInline: true },
      ),
    created: 2,
    names: ["Eibe", "Efeu"],
  },
  {
    what: "a workbook that Java wrote as a stream, in ZIP64",
    name: "poi.xlsx",
    make: () =>
      makeWorkbook(
        [
          ["id", "name"],
          [1, "Erle"],
        ],
        { isInline: true, isLong: true },
      ),
    created: 1,
    names: ["Erle"],
  },
  {
    what: "the list of an old Mac, in an encoding that is not read",
    name: "macroman.csv",
    // `ü` and `Ä` of Mac OS Roman.
    make: () => Buffer.from("id,name\r1,M\x9fllers Rose\r2,\x80pfel\r3,Linde\r", "latin1"),
    created: 1,
    refused: [2, 3],
    names: ["Linde"],
  },
  {
    what: "a download of GBIF",
    name: "0012345-260101000000000.zip",
    make: () =>
      makeZip({
        "0012345-260101000000000.csv": lines([
          "gbifID\tdatasetKey\tfamily\tspecies\tscientificName\tcountryCode\tcatalogNumber",
          "4011664186\t50c9509d\tPinaceae\tPinus sylvestris\tPinus sylvestris L.\tDE\tHERB-123",
          "4011664187\t50c9509d\tRosaceae\t\tRosa 'Peace'\tDE\t77",
        ]),
      }),
    created: 2,
    names: ["Pinus sylvestris L.", "Rosa 'Peace'"],
    unused: ["datasetKey", "species", "countryCode", "catalogNumber"],
  },
  {
    what: "an archive of Darwin Core",
    name: "dwca.zip",
    make: () =>
      makeZip({
        "meta.xml": "<archive/>",
        "occurrence.txt": lines(["id\tcatalogNumber\tscientificName\tvernacularName", "7\t\tGinkgo biloba\tmaidenhair", "8\t\t\toak"]),
        "multimedia.txt": lines(["id\ttitle", "7\tx"]),
      }),
    created: 2,
    names: ["Ginkgo biloba", "oak"],
    unused: ["vernacularName"],
  },
  {
    what: "the list of a garden society, without ids",
    name: "verein.csv",
    make: () => windows1252(lines(["Pflanze;Beet;Spender", "Rose;1;Müller", "Rose;2;Müller", "Tulpe;3;", "Rose;1;Müller"], "\r\n")),
    hasNoIds: true,
    created: 3,
    unchanged: 1,
    names: ["Rose", "Tulpe"],
    unused: ["Beet", "Spender"],
    encoding: "windows-1252",
  },
  {
    what: "Latin-1 of an old Mac, with its line ends",
    name: "mac.csv",
    make: () => windows1252(lines(["id,name", "1,Müllers Röschen", "2,Äpfel"], "\r")),
    created: 2,
    names: ["Müllers Röschen", "Äpfel"],
    encoding: "windows-1252",
  },
  {
    what: "quotes that are never closed",
    name: "quotes.csv",
    make: () =>
      Buffer.from(
        lines([
          "id,name,tag",
          '1,"Rosa,tree',
          "2,Acer,tree",
          '3,5" pot,',
          '4,"Salix" alba,',
          '5,"Quercus, robur",tree',
          '6,"Tilia',
          "7,Fagus,",
        ]),
      ),
    created: 3,
    refused: [2, 4, 5, 7],
    names: ["Acer", "Quercus, robur", "Fagus"],
  },
  {
    what: "rows with more cells than columns",
    name: "cells.csv",
    make: () => Buffer.from(lines(["id,name,tag", "1,Acer, rubrum,tree,,", "2,Salix,tree,,", "3,Tilia,tree,x"])),
    created: 1,
    refused: [2, 4],
    names: ["Salix"],
  },
  {
    what: "a thousand columns",
    name: "wide.csv",
    make: () =>
      Buffer.from(
        lines([
          [...times(500, (at) => `m${at}`), "id", "name", ...times(498, (at) => `n${at}`)].join(","),
          ...times(200, (row) => [...times(500, () => ""), row, `Plant ${row}`, ...times(498, (at) => at)].join(",")),
        ]),
      ),
    created: 200,
    names: ["Plant 0", "Plant 199"],
    unused: times(100, (at) => `m${at}`),
  },
  {
    what: "ids that are there twice",
    name: "twice.csv",
    make: () => Buffer.from(lines(["id,name", "1,Acer", "2,Salix", "1,Acer", "2,Tilia", "x,Rosa"])),
    created: 2,
    unchanged: 1,
    refused: [5, 6],
    names: ["Acer", "Salix"],
  },
  {
    what: "a workbook with long ids",
    name: "long-ids.xlsx",
    make: () =>
      makeWorkbook([
        ["id", "name"],
        ["9007199254740993", "as text"],
        [{ type: "n", xml: "<v>9007199254740995</v>" }, "as digits of another program"],
        [9_007_199_254_740_990, "as Excel rounds"],
        [123_456_789_012_345, "as long as Excel keeps"],
        [{ type: "n", xml: "<v>1234567890123457000</v>" }, "as Gnumeric and JavaScript round"],
      ]),
    created: 3,
    refused: [4, 6],
    names: ["as text", "as digits of another program", "as long as Excel keeps"],
  },
  {
    what: "a table whose first line is a plant",
    name: "no-header.csv",
    make: () => Buffer.from(`\ufeff${lines(["1;Acer palmatum", "2;Salix, weeping;tree", "3;Tilia;tree;lawn", "4;Rosa;;"], "\r\n")}`),
    hasNoHeader: true,
    created: 3,
    refused: [3],
    names: ["Acer palmatum", "Salix, weeping", "Rosa"],
  },
  {
    what: "a list of names, one on each line",
    name: "names.txt",
    make: () => Buffer.from("Acer palmatum\nSalix alba\nTilia cordata\nSalix alba"),
    hasNoHeader: true,
    hasNoIds: true,
    created: 3,
    unchanged: 1,
    names: ["Acer palmatum", "Salix alba", "Tilia cordata"],
  },
  {
    what: "NDJSON in gzip",
    name: "backup.ndjson.gz",
    make: () => gzipSync(lines(['{"id":9223372036854775807,"name":"Acer","tag":"x"}', '{"id":-1,"name":"Salix"}', '{"id":2}'])),
    created: 2,
    refused: [3],
    names: ["Acer", "Salix"],
  },
  {
    what: `${MANY.toLocaleString("en")} rows in gzip`,
    name: "many.csv.gz",
    make: () => gzipSync(lines(["id,name,tag,place", ...times(MANY, (at) => `${at},Plant ${at},tag ${at % 97},${at % 7}`)])),
    created: MANY,
    names: ["Plant 0", `Plant ${MANY - 1}`],
    unused: ["place"],
  },
];

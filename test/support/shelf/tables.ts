import { gzipSync } from "node:zlib";
import { inForm } from "../run-form.ts";
import { makeWorkbook, makeZip } from "./workbook.ts";

/** What becomes of the rows of a table in an empty store. */
type Outcome = Readonly<{
  created: number;
  /** Rows that are equal to an earlier one. */
  unchanged?: number;
  /** The lines of the refused rows. */
  refused?: readonly number[];
  /** The names of plants that are stored then. */
  names: readonly string[];
  /** Columns that are not imported. */
  unused?: readonly string[];
  encoding?: string;
  /** Whether people are asked which encoding it is; the right one comes first. */
  isAsked?: boolean;
  /** Whether it has no ids, so that they are made from its content. */
  hasNoIds?: boolean;
  /** Whether its first line is a plant. */
  hasNoHeader?: boolean;
}>;

/** A table as people have it: what it is, the name of the file, and its content. */
export type Table = Outcome & Readonly<{ what: string; name: string; make: () => Uint8Array }>;

/** The letters of Windows-1252 that Latin-1 does not have. */
const WINDOWS: Readonly<Record<string, number>> = { "€": 0x80, "’": 0x92, "–": 0x96, œ: 0x9c };
const CRLF = "\r\n";

function lines(rows: readonly string[], end = "\n"): string {
  return `${rows.join(end)}${end}`;
}

function utf8(rows: readonly string[], end?: string): Table["make"] {
  return () => Buffer.from(lines(rows, end));
}

function windows1252(rows: readonly string[], end?: string): Table["make"] {
  return () => Uint8Array.from(lines(rows, end), (letter) => WINDOWS[letter] ?? letter.charCodeAt(0));
}

function utf16(rows: readonly string[], { isBigEndian = false } = {}): Table["make"] {
  const bytes = () => Buffer.from(`\ufeff${lines(rows, CRLF)}`, "utf16le");
  return () => (isBigEndian ? bytes().swap16() : bytes());
}

function workbook(...content: Parameters<typeof makeWorkbook>): Table["make"] {
  return () => makeWorkbook(...content);
}

function times<Value>(count: number, make: (at: number) => Value): Value[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** The rows of the largest table: all of them take minutes in a browser. */
const MANY = inForm(10_000, 1_000_000);

const ROWS: ReadonlyArray<readonly [what: string, name: string, make: Table["make"], outcome: Outcome]> = [
  [
    "CSV of a German Excel",
    "pflanzen.csv",
    windows1252(["Nr.;Pflanzenname;Gruppe;Standort;Preis", "1;Bärlauch;Kräuter;Süd;3 €", '2;"Rose; gefüllt";;Nord;5', "3;Weißdorn"], CRLF),
    { created: 3, names: ["Bärlauch", "Rose; gefüllt", "Weißdorn"], unused: ["Standort", "Preis"], encoding: "windows-1252" },
  ],
  [
    "CSV of a French Excel",
    "plantes.csv",
    windows1252(["N°;Nom de la plante;Famille;Lieu", "1;œillet d’Inde;Astéracées;Est", "2;Châtaignier;Fagacées;"], CRLF),
    { created: 2, names: ["œillet d’Inde", "Châtaignier"], unused: ["Lieu"], encoding: "windows-1252", isAsked: true },
  ],
  [
    "a workbook of a Spanish Excel",
    "plantas.xlsx",
    workbook(
      [
        ["Número", "Nombre científico", "Categoría", undefined, "Ubicación"],
        [1, "Opuntia ficus-indica", "cactus", undefined, "Sur"],
        [],
        [2, { type: "inlineStr", xml: "<is><r><t>Agave </t></r><r><t>americana</t></r></is>" }, "", undefined, 3.5],
        [3, '¡Olé! <b> & "ñ"', "cactus"],
      ],
      { others: ["Viejo"] },
    ),
    { created: 3, names: ["Opuntia ficus-indica", "Agave americana", '¡Olé! <b> & "ñ"'], unused: ["column 4", "Ubicación"] },
  ],
  [
    "Unicode text of Excel",
    "unicode.txt",
    utf16(["Id\tName\tTag", "1\t银杏 🌿\ttree", '2\t"Rosa ""Peace"""\t']),
    { created: 2, names: ["银杏 🌿", 'Rosa "Peace"'], encoding: "utf-16le" },
  ],
  [
    "UTF-16 in the other order",
    "big-endian.csv",
    utf16(["id;name", "1;Ясень", "2;Клён"], { isBigEndian: true }),
    { created: 2, names: ["Ясень", "Клён"], encoding: "utf-16be" },
  ],
  [
    "CSV UTF-8 of Excel, with a mark and its separator named",
    "sep.csv",
    utf8(["\ufeffsep=;", "Artikelnummer;Bezeichnung;Schlagwort", "4711;Ahorn, rot;Baum"], CRLF),
    { created: 1, names: ["Ahorn, rot"] },
  ],
  [
    "CSV of Google Sheets",
    "Plants - Sheet1.csv",
    () =>
      Buffer.from(
        'Plant ID,Plant name,Category,Notes\r\n1,"Fern, hardy",shade,"two\nlines"\r\n2,Hosta,shade,\r\n,,,\r\n3,Iris,,"a ""quote"""',
      ),
    { created: 3, names: ["Fern, hardy", "Hosta", "Iris"], unused: ["Notes"] },
  ],
  [
    "tabs of Google Sheets",
    "Plants - Sheet1.tsv",
    utf8(["number\tspecies\tfamily", "10\tAcer palmatum\tSapindaceae", "11\tSalix alba\tSalicaceae"], CRLF),
    { created: 2, names: ["Acer palmatum", "Salix alba"] },
  ],
  [
    "CSV of LibreOffice with quotes around all text",
    "libreoffice.csv",
    utf8(['"id","name","tag"', '1,"Linde",""', '2,"Buche","Baum"']),
    { created: 2, names: ["Linde", "Buche"] },
  ],
  [
    "a workbook of LibreOffice",
    "libreoffice.xlsx",
    workbook(
      [
        ["id", "name", "tag"],
        [1, "Eibe", "Baum"],
        [2, "Efeu"],
      ],
      { isInline: true },
    ),
    { created: 2, names: ["Eibe", "Efeu"] },
  ],
  [
    "a workbook that Java wrote as a stream, in ZIP64",
    "poi.xlsx",
    workbook(
      [
        ["id", "name"],
        [1, "Erle"],
      ],
      { isInline: true, isLong: true },
    ),
    { created: 1, names: ["Erle"] },
  ],
  [
    "the list of an old Mac, in an encoding of its own",
    "macroman.csv",
    // `ü` and `Ä` of Mac OS Roman.
    () => Buffer.from("id,name\r1,M\x9fllers Rose\r2,\x80pfel\r3,Linde\r", "latin1"),
    { created: 3, names: ["Müllers Rose", "Äpfel", "Linde"], encoding: "macintosh", isAsked: true },
  ],
  [
    "a download of GBIF",
    "0012345-260101000000000.zip",
    () =>
      makeZip({
        "0012345-260101000000000.csv": lines([
          "gbifID\tdatasetKey\tfamily\tspecies\tscientificName\tcountryCode\tcatalogNumber",
          "4011664186\t50c9509d\tPinaceae\tPinus sylvestris\tPinus sylvestris L.\tDE\tHERB-123",
          "4011664187\t50c9509d\tRosaceae\t\tRosa 'Peace'\tDE\t77",
        ]),
      }),
    { created: 2, names: ["Pinus sylvestris L.", "Rosa 'Peace'"], unused: ["datasetKey", "species", "countryCode", "catalogNumber"] },
  ],
  [
    "an archive of Darwin Core that does not describe itself",
    "dwca.zip",
    () =>
      makeZip({
        "occurrence.txt": lines(["id\tcatalogNumber\tscientificName\tvernacularName", "7\t\tGinkgo biloba\tmaidenhair", "8\t\t\toak"]),
        "multimedia.txt": lines(["id\ttitle", "7\tx"]),
      }),
    { created: 1, refused: [3], names: ["Ginkgo biloba"], unused: ["catalogNumber", "vernacularName"] },
  ],
  [
    "the list of a garden society, without ids",
    "verein.csv",
    windows1252(["Pflanze;Beet;Spender", "Rose;1;Müller", "Rose;2;Müller", "Tulpe;3;", "Rose;1;Müller"], CRLF),
    { hasNoIds: true, created: 3, unchanged: 1, names: ["Rose", "Tulpe"], unused: ["Spender"], encoding: "windows-1252" },
  ],
  [
    "Latin-1 of an old Mac, with its line ends",
    "mac.csv",
    windows1252(["id,name", "1,Müllers Röschen", "2,Äpfel"], "\r"),
    { created: 2, names: ["Müllers Röschen", "Äpfel"], encoding: "windows-1252" },
  ],
  [
    "quotes that are never closed",
    "quotes.csv",
    utf8(["id,name,tag", '1,"Rosa,tree', "2,Acer,tree", '3,5" pot,', '4,"Salix" alba,', '5,"Quercus, robur",tree', '6,"Tilia', "7,Fagus,"]),
    { created: 3, refused: [2, 4, 5, 7], names: ["Acer", "Quercus, robur", "Fagus"] },
  ],
  [
    "rows with more cells than columns",
    "cells.csv",
    utf8(["id,name,tag", "1,Acer, rubrum,tree,,", "2,Salix,tree,,", "3,Tilia,tree,x"]),
    { created: 1, refused: [2, 4], names: ["Salix"] },
  ],
  [
    "a thousand columns",
    "wide.csv",
    utf8([
      [...times(500, (at) => `m${at}`), "id", "name", ...times(498, (at) => `n${at}`)].join(","),
      ...times(200, (row) => [...times(500, () => ""), row, `Plant ${row}`, ...times(498, (at) => at)].join(",")),
    ]),
    { created: 200, names: ["Plant 0", "Plant 199"], unused: times(100, (at) => `m${at}`) },
  ],
  [
    "ids that are there twice",
    "twice.csv",
    utf8(["id,name", "1,Acer", "2,Salix", "1,Acer", "2,Tilia", "x,Rosa"]),
    { created: 2, unchanged: 1, refused: [5, 6], names: ["Acer", "Salix"] },
  ],
  [
    "a workbook with long ids",
    "long-ids.xlsx",
    workbook([
      ["id", "name"],
      ["9007199254740993", "as text"],
      [{ type: "n", xml: "<v>9007199254740995</v>" }, "as digits of another program"],
      [9_007_199_254_740_990, "as Excel rounds"],
      [123_456_789_012_345, "as long as Excel keeps"],
      [{ type: "n", xml: "<v>1234567890123457000</v>" }, "as Gnumeric and JavaScript round"],
    ]),
    { created: 3, refused: [4, 6], names: ["as text", "as digits of another program", "as long as Excel keeps"] },
  ],
  [
    "a table whose first line is a plant",
    "no-header.csv",
    utf8(["\ufeff1;Acer palmatum", "2;Salix, weeping;tree", "3;Tilia;tree;lawn", "4;Rosa;;"], CRLF),
    { hasNoHeader: true, created: 4, names: ["Acer palmatum", "Salix, weeping", "Tilia", "Rosa"], unused: ["column 3", "column 4"] },
  ],
  [
    "a list of names, one on each line",
    "names.txt",
    () => Buffer.from("Acer palmatum\nSalix alba\nTilia cordata\nSalix alba"),
    { hasNoHeader: true, hasNoIds: true, created: 3, unchanged: 1, names: ["Acer palmatum", "Salix alba", "Tilia cordata"] },
  ],
  [
    "NDJSON in gzip",
    "backup.ndjson.gz",
    () => gzipSync(lines(['{"id":9223372036854775807,"name":"Acer","tag":"x"}', '{"id":-1,"name":"Salix"}', '{"id":2}'])),
    { created: 2, refused: [3], names: ["Acer", "Salix"] },
  ],
  [
    `${MANY.toLocaleString("en")} rows in gzip`,
    "many.csv.gz",
    () => gzipSync(lines(["id,name,tag,place", ...times(MANY, (at) => `${at},Plant ${at},tag ${at % 97},${at % 7}`)])),
    { created: MANY, names: ["Plant 0", `Plant ${MANY - 1}`], unused: ["place"] },
  ],
];

export const TABLES: readonly Table[] = ROWS.map(([what, name, make, outcome]) => ({ what, name, make, ...outcome }));

import { gzipSync } from "node:zlib";
import { makeZip } from "../shelf/workbook.ts";
import type { OwnedTable } from "./owned-table.ts";

type Cells = readonly (string | number)[];
type Sheet = Readonly<{ name: string; rows: readonly Cells[]; isHidden?: boolean; merged?: string }>;

/** An .xlsx file of these sheets, whose texts are in the cells. An empty text is no cell. */
export function workbookOf(...sheets: readonly Sheet[]): Buffer {
  const cellOf = (cell: string | number, place: string) =>
    cell === ""
      ? ""
      : typeof cell === "number"
        ? `<c r="${place}"><v>${cell}</v></c>`
        : `<c r="${place}" t="inlineStr"><is><t>${cell}</t></is></c>`;
  const rowOf = (cells: Cells, row: number) =>
    `<row r="${row + 1}">${cells.map((cell, at) => cellOf(cell, `${String.fromCharCode(65 + at)}${row + 1}`)).join("")}</row>`;
  const stateOf = (isHidden = false) => (isHidden ? ' state="hidden"' : "");
  const list = sheets.map(({ name, isHidden }, at) => `<sheet name="${name}" sheetId="${at + 1}"${stateOf(isHidden)} r:id="r${at + 1}"/>`);
  const relations = sheets.map((_, at) => `<Relationship Id="r${at + 1}" Target="worksheets/${at + 1}.xml"/>`);
  return makeZip({
    "xl/workbook.xml": `<workbook><sheets>${list.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${relations.join("")}</Relationships>`,
    ...Object.fromEntries(
      sheets.map(({ rows, merged }, at) => [
        `xl/worksheets/${at + 1}.xml`,
        `<worksheet><sheetData>${rows.map(rowOf).join("")}</sheetData>${merged === undefined ? "" : `<mergeCells><mergeCell ref="${merged}"/></mergeCells>`}</worksheet>`,
      ]),
    ),
  });
}

const PLANTS: readonly Cells[] = [
  ["Nr", "Name", "Bed"],
  [1, "Gentiana verna", "A1"],
  [2, "Primula auricula", "A2"],
];
const TWO = ["1|Gentiana verna|A1", "2|Primula auricula|A2"];

const META = `<archive><core fieldsTerminatedBy="|" linesTerminatedBy="\\n" fieldsEnclosedBy="" ignoreHeaderLines="0" encoding="UTF-8">
  <files><location>core/plants.dat</location></files><id index="0"/>
  <field index="2" term="http://rs.tdwg.org/dwc/terms/scientificName"/><field index="1" term="http://rs.tdwg.org/dwc/terms/family"/>
  <field default="Plantae" term="http://rs.tdwg.org/dwc/terms/kingdom"/></core></archive>`;

const UTF8 = "Nr;Name;Beet\n1;Bärlauch;Kräuter\n2;Süßdolde;Wiese\n";
const TWO_HERBS = ["1|Bärlauch|Kräuter", "2|Süßdolde|Wiese"];
/** All letters are as in Latin-1. */
const WINDOWS = Buffer.from(UTF8, "latin1");
const UTF16 = Buffer.from(`\ufeff${UTF8.replaceAll(";", "\t")}`, "utf16le");

/** Workbooks, archives, JSON, and texts in other encodings than UTF-8. */
export const PACKED: readonly OwnedTable[] = [
  {
    what: "a workbook with a cover sheet, a list of choices and a hidden sheet",
    file: workbookOf(
      { name: "Read me", rows: [["Plant list of the garden"], ["Name", "Botanic garden"], ["Date", "2025"]] },
      { name: "Choices", rows: [["Bed"], ["A1"], ["A2"]] },
      { name: "Old", isHidden: true, rows: PLANTS },
      { name: "Plants", rows: [["Alpine house"], [], ...PLANTS, [], [""]] },
    ),
    plants: TWO,
    skipped: 4,
    doubts: ["Only the sheet Plants is read, not Read me, Choices, Old"],
  },
  {
    what: "a workbook whose second sheet has a heading that we do not know",
    file: workbookOf(
      {
        name: "Über",
        rows: Array.from({ length: 9 }, (_, at) => [`Frage ${"?".repeat(at)}`, "Antwort"]),
      },
      {
        name: "Leathanach",
        rows: [
          ["Uimhir", "Ainm", "Leaba"],
          [1, "Gentiana verna", "A1"],
          [2, "Primula auricula", "A2"],
          [3, "Dryas octopetala", "A3"],
        ],
      },
    ),
    plants: ["*|Gentiana verna|", "*|Primula auricula|", "*|Dryas octopetala|"],
    doubts: ["Only the sheet Leathanach", "Line 1", "column Ainm"],
  },
  {
    what: "a workbook with a title in merged cells",
    file: workbookOf({ name: "A", merged: "A1:C1", rows: [["Alpine house", "", ""], ...PLANTS] }),
    plants: TWO,
    skipped: 1,
  },
  {
    what: "a workbook with remarks beside the table",
    file: workbookOf({
      name: "A",
      rows: [
        ["Nr", "Name", "Bed"],
        [1, "Gentiana verna", "A1"],
        [2, "Primula auricula", "A2", "", "check!"],
      ],
    }),
    plants: ["1|Gentiana verna|A1"],
    refused: [3],
  },
  {
    what: "a Darwin Core archive that describes itself",
    file: makeZip({ "meta.xml": META, "core/plants.dat": '1|Rosaceae|Rosa "Peace"\n2|Salicaceae|Salix alba L.\n', "eml.xml": "<eml/>" }),
    plants: ['*|Rosa "Peace"|Rosaceae', "*|Salix alba L.|Salicaceae"],
    doubts: ["core/plants.dat"],
  },
  {
    what: "a Darwin Core archive without a description",
    file: makeZip({
      "occurrence.txt": "occurrenceID\tscientificName\tfamily\n1\tRosa canina L.\tRosaceae\n2\tSalix alba L.\tSalicaceae\n",
      "eml.xml": "<eml/>",
    }),
    plants: ["1|Rosa canina L.|Rosaceae", "2|Salix alba L.|Salicaceae"],
    doubts: ["occurrence.txt"],
  },
  { what: "a table in gzip", file: gzipSync(UTF8), plants: TWO_HERBS },
  { what: "UTF-16 with its mark and tabs", file: UTF16, plants: TWO_HERBS },
  { what: "Windows-1252", file: WINDOWS, plants: TWO_HERBS, doubts: ["Windows-1252"] },
  {
    what: "a JSON list in an object",
    file: '{"plants":[{"id":1,"name":"Rosa canina","tag":"Hedge"},{"id":2,"name":"Salix alba"}]}',
    plants: ["1|Rosa canina|Hedge", "2|Salix alba|"],
    doubts: ["list"],
  },
  {
    what: "a JSON list",
    file: '[{"id":1,"name":"Rosa canina","tag":"Hedge"},\n{"id":2,"name":"Salix alba"}]',
    plants: ["1|Rosa canina|Hedge", "2|Salix alba|"],
    doubts: ["list"],
  },
];

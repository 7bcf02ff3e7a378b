import { below, pick } from "../random.ts";
import type { Random } from "../random.ts";

type Column = "id" | "name" | "common" | "tag" | "count" | "year" | "note" | "code";

/** A table whose cells may mislead a guess, and what its owner sees in it. */
export type RandomTable = Readonly<{
  text: string;
  columns: readonly Column[];
  headings: readonly string[];
  names: readonly string[];
  tags: readonly string[];
}>;

const GENERA = ["Rosa", "Salix", "Acer", "Ginkgo", "Daphne", "Anemone", "Iris", "Ribes"];
const EPITHETS = ["canina", "alba", "rubrum", "biloba", "mezereum", "vulgare", "sp."];
const COMMON = [
  "Dog rose",
  "White willow",
  "Hunds-Rose",
  "Maple",
  "Chêne",
  "Bärlauch",
  "Apple tree",
  "Garden plant",
  "Rose, dog",
  "Group",
  "Art",
];
const TAGS = ["Hedge", "A1", "Beet 3", "Rosaceae", "Group", "Art", "Type", "1", "Family", ""];
const NOTES = ["wet", "seen 3 May, by Ada", '5" below', '"old" quarry', "two\nlines", "a;b", "x|y", "Total: 25", "1,2,3\n4,5,6", ""];
const TITLES = ["Plant list 2025", "Garden", "Rosa collection", "printed 3 May"];

/** In languages that we know, and in Irish. */
const HEADINGS: Readonly<Record<Column, readonly [readonly string[], string]>> = {
  id: [["id", "Nr", "plant_id"], "Uimhir"],
  name: [["Name", "Scientific name", "Taxon", "Nazwa łacińska"], "Ainm"],
  common: [["Common name", "Deutscher Name", "vernacularName"], "Coitianta"],
  tag: [["Bed", "Family", "tag", "Standort"], "Leaba"],
  count: [["Count", "Quantity", "Anzahl"], "Líon"],
  year: [["Year", "Planted", "Jahr"], "Bliain"],
  note: [["Notes", "Bemerkungen"], "Nótaí"],
  code: [["Code", "Accession", "Barcode"], "Cód"],
};

export function randomTable(random: Random): RandomTable {
  const others = (["id", "common", "tag", "count", "year", "note", "code"] as const).filter(() => random() < 0.35);
  const place = below(random, others.length + 1);
  const columns: readonly Column[] = [...others.slice(0, place), "name", ...others.slice(place)];
  const separator = pick(random, [",", ";", "\t", "|"]);
  const toRow = (cells: readonly string[]) => `${cells.map((cell) => quote(cell, separator)).join(separator)}\n`;
  const isLatin = random() < 0.7;
  const rows = Array.from({ length: pick(random, [1, 2, 3, 5, 10, 50, 350]) }, (_, at) => randomRow(random, at, isLatin));
  const blank = separator.repeat(columns.length - 1);
  const headings = random() < 0.7 ? columns.map((column) => headingOf(random, column, random() < 0.8)) : [];
  const titles = Array.from({ length: random() < 0.2 ? 2 : 0 }, () => `${pick(random, TITLES)}${random() < 0.5 ? blank : ""}\n`);
  const lines = rows.map((row) => `${toRow(columns.map((column) => row[column]))}${random() < 0.05 ? `${blank}\n` : ""}`);
  return {
    text: [...titles, headings.length > 0 ? toRow(headings) : "", ...lines].join(""),
    columns,
    headings: headings.length > 0 ? headings : columns.map((_, at) => `column ${at + 1}`),
    names: rows.map(({ name }) => name),
    tags: rows.map(({ tag }) => tag),
  };
}

function headingOf(random: Random, column: Column, isKnown: boolean): string {
  const [known, unknown] = HEADINGS[column];
  return isKnown ? pick(random, known) : unknown;
}

function randomRow(random: Random, at: number, isLatin: boolean): Readonly<Record<Column, string>> {
  const common = pick(random, COMMON);
  const latin = random() < 0.1 ? pick(random, GENERA) : `${pick(random, GENERA)} ${pick(random, EPITHETS)}`;
  const year = random() < 0.8 ? String(1950 + below(random, 70)) : "unknown";
  const count = String(below(random, 30));
  return {
    id: String(at + 1),
    name: isLatin ? latin : common,
    common,
    tag: pick(random, TAGS),
    count,
    year,
    note: pick(random, NOTES),
    code: `X-${at}`,
  };
}

function quote(cell: string, separator: string): string {
  return cell.includes(separator) || /["\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

import { isEmpty } from "../cells.ts";
import type { Cell, CellRow, CellSource } from "../cells.ts";
import type { Layout } from "./columns.ts";
import { findDoubt } from "./doubtful-text.ts";
import type { Doubt } from "./doubtful-text.ts";
import type { createRoleFinder } from "./headings.ts";
import { isLatin } from "./latin-name.ts";
import { isDitto } from "../null-mark.ts";
import { isVague } from "./plant-name.ts";
import { addDoubt } from "../row.ts";
import type { Findings } from "../row.ts";

/** A table as people have it, and what is found out about it. */
type Reader = Pick<CellSource, "decode" | "delimiter"> &
  Readonly<{ layout: Layout; areLatin?: boolean; isSpaced?: boolean; roleOf: ReturnType<typeof createRoleFinder>; findings: Findings }>;

type Told = Readonly<{ nameAt: readonly number[]; tagAt: number; reader: Reader }>;

/** Names what is probably not meant in a row that is a plant. `texts`: its name and its tag. */
export function noteDoubts(row: CellRow, texts: ReadonlyArray<string | undefined>, { nameAt, tagAt, reader }: Told): void {
  const { line, cells, faults } = row;
  const { findings, layout } = reader;
  const [name = "", tag = ""] = texts;
  if (isNote(name, cells, reader)) addDoubt(findings, NOTE, line);
  else if (isDitto(name) || isDitto(tag) || (reader.areLatin && SMALL.test(name))) addDoubt(findings, ABOVE, line);
  if (row.repeated?.has(tagAt) && name === tag) addDoubt(findings, MERGED, line);
  if (isInQuotes(name, findings) || isInQuotes(tag, findings)) addDoubt(findings, IN_QUOTES, line);
  if (layout.parts?.includes("variety") && isVague(toParts(cells, nameAt, reader))) addDoubt(findings, VAGUE, line);
  if (isBesideComma(row, nameAt.at(-1) ?? -1, reader)) addDoubt(findings, COMMA, line);
  const columns = layout.names.length;
  const isJoined = (cell: Cell, at: number) => cell !== undefined && cell.length > columns && holdsRow(cell, at, reader);
  if (cells.some(isJoined)) addDoubt(findings, ROW_INSIDE, line);
  noteText(texts, line, findings);
  if (faults && [...nameAt, tagAt].some((at) => faults.get(at) === "doubtful")) addDoubt(findings, ANOTHER_FORM, line);
}

/** Names a text of a plant that is probably not meant, whatever kind of file it comes from. */
export function noteText(texts: ReadonlyArray<string | undefined>, line: number, findings: Findings): void {
  const doubt = texts.map((text = "") => findDoubt(text)).find((found) => found !== undefined);
  if (doubt !== undefined) addDoubt(findings, DOUBTS[doubt], line);
}

function toParts(cells: readonly Cell[], places: readonly number[], { decode, layout }: Reader) {
  return places.map((at, part) => ({ role: layout.parts?.[part], text: decode(cells[at] ?? "") }));
}

/** An epithet without its genus, as in `rugosa`. */
const SMALL = /^(?!x\s)\p{Ll}/u;

/** What spreadsheets and people write below a list. */
const TOTAL =
  /^(?:(?:grand |sub-?|sous-)?total|totale|totaal|totalt|sum|summe|summa|suma|somme|gesamt(?:summe)?|insgesamt|razem|celkem|yhteensä|итого|всего|разом|合計|合计|总计|總計|합계)(?:\P{L}|$)/iu;
/** What they write above one, or above some of its rows; and how many rows there are. */
const TITLE =
  /:$|^\(?\d+[.)]? |^(?:[#=*~_[]+|-{2,}|- )\s*\p{L}|^(?:page|seite|pagina|página|sida|side|sivu|strona|strana|страница) \d|(?:^|\s|plant(?:en)?|pflanzen|arten|sorten)(?:list|liste|lista|lijst|seznam|список|inventory|inventar)(?: \d{4})?$|^list[ea]? (?:of|der|des|de|di) /iu;
/** As in `Bed 1`. */
const PLACE = /^(\p{L}{2,12})\.? (?:\d{1,3}|\p{Lu})$/u;
/** A title is short. */
const TITLE_LENGTH_MAX = 60;

/** Whether the row may be a note, a total, or a title of some rows rather than a plant. */
function isNote(name: string, cells: readonly Cell[], { areLatin = false, layout, roleOf }: Reader): boolean {
  if (!/\p{L}/u.test(name) || TOTAL.test(name) || isTitle(name, roleOf)) return true;
  if (areLatin && !isLatin(name) && /^\P{Ll}+$|^.*\d.*$/u.test(name)) return true;
  const isAlone = layout.names.length > 1 && cells.filter((cell) => !isEmpty(cell)).length === 1;
  // A genus may stand alone.
  return areLatin && isAlone && !isLatin(name) && !(layout.parts?.includes("genus") && /^[×x+]? ?\p{Lu}[\p{Ll}-]+$/u.test(name));
}

function isTitle(name: string, roleOf: Reader["roleOf"]): boolean {
  if (name.length > TITLE_LENGTH_MAX) return false;
  const [, place = ""] = PLACE.exec(name) ?? [];
  return TITLE.test(name) || (place !== "" && roleOf(place)?.role === "tag");
}

/**
 * Whether a cell of several lines has one with all the separators of a row: then quotes that quote nothing may have joined
 * rows. Of two columns a line of a note has as many; but people write a space behind a comma.
 */
function holdsRow(cell: string, place: number, { delimiter, layout, findings, isSpaced = false }: Reader): boolean {
  const columns = layout.names.length;
  if (findings.sheet !== undefined || !/[\r\n]/.test(cell)) return false;
  if (columns < 2) return true;
  const isNarrow = columns === 2 && delimiter !== "\t" && !isSpaced;
  const separated = isNarrow ? cell.replaceAll(`${delimiter} `, " ") : cell;
  return separated
    .split(/[\r\n]+/)
    .some((part, at) => (at > 0 || (columns === 2 && place === 0)) && part.split(delimiter).length >= columns);
}

/** Whether the cell behind the name may be a part of it, as in `Rosa, dog`, where the row has as many cells as others. */
function isBesideComma({ cells }: CellRow, nameAt: number, { isSpaced = false, delimiter, findings }: Reader): boolean {
  return !isSpaced && delimiter === "," && findings.sheet === undefined && /^ \S/.test(cells[nameAt + 1] ?? "");
}

/** Whether quotes that should be around a cell are in it: one without the other, or both. A cultivar has single ones of its own. */
function isInQuotes(text: string, { text: split }: Findings): boolean {
  if (!/^["'‘“”„«‹「『`´]|["”“]$/u.test(text)) return false;
  const isOdd = text.replaceAll(/[^"]/gu, "").length % 2 === 1 && /^"|"$/u.test(text);
  const isWhole = /^[“”„«‹「『`´].+[“”»›」』`´]$/u.test(text) || (split?.quotes !== "double" && /^".+"$/su.test(text));
  return isOdd || isWhole || isLatin(/^['‘](.+)['’]$/u.exec(text)?.[1] ?? "");
}

const COMMA = "The cell behind the name begins with a space: if it belongs to the name, put both in quotes.";
const NOTE = "The row may be a total, a note or a title, and no plant.";
const ABOVE = "The row seems to leave out what the row above it has, such as the genus: write it out.";
const MERGED = "The name and the tag are one merged cell.";
const IN_QUOTES = "The name or the tag has quotes that may belong to the file, and not to the text.";
const VAGUE = "The variety is no epithet, so no rank is written before it.";
const ROW_INSIDE = "A cell of several lines holds what looks like a row: if quotes belong to the text of this file, choose quotes: none.";

const DOUBTS: Readonly<Record<Doubt, string>> = {
  mojibake: "The text looks as if its letters were read in another encoding, as in `FougÃ¨re`.",
  "replacement character": "The text has a sign that stands for a letter that was lost.",
  HTML: "The text has signs of HTML, as in `&eacute;` or `<i>`.",
  "control character": "The text has a control character, which is not shown.",
  "invisible character": "The text has a character that is not shown, such as a space without width.",
};

const ANOTHER_FORM = "A number has a format that cannot be shown exactly: it is written in plain digits.";

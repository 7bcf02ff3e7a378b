import { isDitto } from "../null-mark.ts";

/** What columns hold that make a name together, in the order in which they are written. */
export const NAME_PARTS = [
  "genusHybrid",
  "genus",
  "speciesHybrid",
  "species",
  "speciesAuthor",
  "rank",
  "infraspecific",
  "infraspecificAuthor",
  "rank2",
  "infraspecific2",
  "infraspecificAuthor2",
  "subspecies",
  "variety",
  "form",
  "author",
  "group",
  "cultivar",
] as const;
export type NamePart = (typeof NAME_PARTS)[number];

/** A cell of one of the columns. Without a role it is a column that someone has chosen, such as an accession number. */
export type PartOfName = Readonly<{ role: NamePart | undefined; text: string }>;

type Texts = ReadonlyMap<NamePart | undefined, string>;
type Word = Readonly<{ role: NamePart | undefined; text: string; authors: string[] }>;

const LINE_END = /[\r\n\u0085\u2028\u2029]+/u;

/** A longer cell is no part of a name: it is written where it stands. So the time of the rules is bounded. */
const RULES_LENGTH_MAX = 300;

/** What databases write where they have nothing. A question mark is a statement of its owner. */
const NOTHING = /^(?:|\\N|\(?null\)?|#?N\/A|n\.a\.|NA|NaN|none|[-–—]+|\.)$/iu;

/** Every sign that people put around a cultivar epithet. */
const QUOTE = "['‘’‚‛`´\"“”„«»]";
const QUOTED = new RegExp(`^${QUOTE}{1,2}(.+?)${QUOTE}{1,2}$`, "u");
const SINGLE_QUOTED = /^(?:'.+'|[‘‚’].+[’‘])$/u;
/** Two cultivars, or a cultivar between other words. */
const QUOTED_INSIDE = new RegExp(String.raw`${QUOTE}\s(?:.*\s)?${QUOTE}|(?:^|[\s(])${QUOTE}[\p{Lu}\d][^'’"”]+${QUOTE}(?=[\s,;)])`, "u");
const QUOTED_AT_END = new RegExp(String.raw`\s${QUOTE}[\p{Lu}\d].*${QUOTE}$`, "u");
const QUOTE_OPENS = new RegExp(String.raw`^${QUOTE}+(?=[\p{Lu}\d])`, "u");

const GROUP = /(?:^|[\s(-])(?:Group|Gruppe|Groupe|Grupo|Gruppo|Groep|Gp|Grp|grex|gx)\.?\)?$/iu;
/** Words that stand where a cultivar epithet could, and are none. A trade designation has no quotes (ICNCP). */
const NO_EPITHET =
  /^(?:cv|cvs|sp|spp|hybrids?|hybride|seedlings?|Sämling|mix|mixed|unnamed|unknown|various|assorted|unbekannt|diverse|gemischt|inconnue?|desconocid[oa]|onbekend)\.?$|[™®]|^[^\p{L}\p{N}]*$/iu;

/** How epithets of varieties end, and some words of gardeners that end so too. */
const EPITHET =
  /^(?!(?:purple|white|orange|blue|double|single|large|variable|yes)(?!\p{L}))[\p{Ll}-]{2,}(?:a|us|um|i|is|es|os|as|ys|[bfgp]er|cher|or|ar|on|x|ns|ps|[cglnrst]e)(?![\p{L}-])/u;

/** A sign of a hybrid or a graft-chimaera in front of a name. A letter needs a space: `xanthina` is an epithet. */
const SIGN = /^(?:([×✕⨯+])\s*|[xX]\s+|x(?=\p{Lu}))(?=\p{L})/u;
/** Names of parents with a sign between them, which stays apart from both (ICN H.3A.1). */
const FORMULA = /\S\s+[xX×✕⨯]\s/u;
/** How a column of its own says that this is a hybrid. */
const YES = /^(?:[x×✕⨯hyjts1]|hybrid|hybride|yes|true|ja|oui|sí)$/iu;

/** How ranks are written (ICN 5A), by what people write, without points, spaces and hyphens. Empty is not written. */
const RANKS = new Map(
  Object.entries({
    "subsp.": "subsp ssp subspecies unterart sousespèce subespecie subespécie sottospecie ondersoort underart poddruh podgatunek подвид",
    "var.": "var v variety varietas varietät variété variedad variedade varietà variëteit varietet varieta odmiana разновидность",
    "f.": "f fo fa form forma forme форма",
    "subvar.": "subvar subvariety subvarietas",
    "subf.": "subf subform subforma",
    "nothosubsp.": "nothosubsp nothossp nothosubspecies nssp nsubsp",
    "nothovar.": "nothovar nothovariety nothovarietas nvar",
    "nothof.": "nothof nothoform nothoforma",
    "convar.": "convar convariety convarietas",
    cultivar: "cv cultivar cultivarvariety sorte kultivar сорт",
    group: "group gruppe groupe cultivargroup",
    "": "species sp spp genus gen family art espèce especie specie soort druh gatunek вид unranked infraspecificname infraspecies none",
  }).flatMap(([written, words]) => words.split(" ").map((word) => [word, written])),
);

/** How the parts that are written become words. Signs, ranks and authors stand with the part that they belong to. */
const WRITERS: Readonly<Partial<Record<NamePart, (text: string, texts: Texts) => string>>> = {
  genus: (text, texts) => withSign(text, texts.get("genusHybrid")),
  species: (text, texts) => withSign(withoutGenus(text, texts), texts.get("speciesHybrid")),
  infraspecific: (text, texts) => withRank(withoutSpecies(text, texts), texts.get("rank")),
  infraspecific2: (text, texts) => withRank(withoutSpecies(text, texts), texts.get("rank2")),
  subspecies: (text, texts) => withRank(withoutSpecies(text, texts), "subsp."),
  // Gardeners call a cultivar a variety. An epithet of a variety has a small letter (ICN 60F), that of a cultivar a capital one.
  variety: toVariety,
  form: (text, texts) => withRank(withoutSpecies(text, texts), "f."),
  group: (text, texts) => toGroup(text, texts.has("cultivar")),
  cultivar: toCultivar,
};

const INFRASPECIFIC: readonly unknown[] = ["infraspecific", "infraspecific2", "subspecies", "variety", "form"] satisfies NamePart[];

/** The word that each author belongs to: its place among those below the species. */
const AUTHORS = [
  ["speciesAuthor", 0],
  ["infraspecificAuthor", 0],
  ["infraspecificAuthor2", 1],
  ["author", -1],
] as const satisfies [NamePart, number][];

/**
 * The name that these cells make, by ICN (hybrids: H.3, ranks: 24.1, authors: 46 and 26.1) and ICNCP (cultivars and
 * groups). Words stand in the order of `parts`. What an owner has written is not corrected. Empty if all cells are.
 */
export function joinName(parts: readonly PartOfName[]): string {
  const { cells, texts } = readParts(parts);
  const words: Word[] = [];
  for (const { role, text } of cells) {
    const word = role === undefined ? text : (WRITERS[role]?.(text, texts) ?? "");
    const isRepeated = (role === "cultivar" || role === "group") && words.some((before) => before.text.endsWith(word));
    if (word !== "" && !isRepeated) words.push({ role, text: word, authors: [] });
  }
  for (const [role, at] of AUTHORS) {
    const author = texts.get(role);
    if (author !== undefined) addAuthor(words, { role, at, author });
  }
  return words.flatMap(({ text, authors }) => insertAuthors(text, authors)).join(" ");
}

/** Those that are not empty, and their texts: the first of each role counts. */
function readParts(parts: readonly PartOfName[]): Readonly<{ cells: readonly PartOfName[]; texts: Texts }> {
  const cells = parts.map(toCell).filter(({ text }) => !NOTHING.test(text));
  return { cells, texts: new Map(cells.toReversed().map(({ role, text }) => [role, text])) };
}

type Author = Readonly<{ role: NamePart; at: number; author: string }>;

function addAuthor(words: Word[], { role, at, author }: Author): void {
  const infraspecific = words.filter((word) => INFRASPECIFIC.includes(word.role) && !/^['‘]/u.test(word.text));
  const epithets = [...words.filter((word) => word.role === "species"), ...infraspecific];
  const last = epithets.at(-1) ?? words.find((word) => word.role === "genus");
  const wanted = (role === "speciesAuthor" ? epithets[0] : infraspecific.at(at)) ?? last;
  // An autonym has no author: that of the species stands behind the species (ICN 26.1).
  const word = epithets.find((epithet) => lastWord(epithet.text) === lastWord(wanted?.text ?? "")) ?? wanted;
  if (word === undefined) words.push({ role, text: author, authors: [] });
  else if (!word.text.endsWith(` ${author}`) && !word.authors.includes(author)) word.authors.push(author);
}

/** Behind the epithet, and before a cultivar that stands in the same cell. */
function insertAuthors(text: string, authors: readonly string[]): string[] {
  const at = authors.length === 0 ? -1 : text.search(QUOTED_AT_END);
  return at === -1 ? [text, ...authors] : [text.slice(0, at), ...authors, text.slice(at).trimStart()];
}

function toCell({ role, text }: PartOfName): PartOfName {
  const lines = LINE_END.test(text) ? text.split(LINE_END).map((line) => line.trim()) : [text.trim()];
  const line = lines.filter((words) => words !== "").join(" ");
  return { role: line.length > RULES_LENGTH_MAX ? undefined : role, text: line };
}

function lastWord(text: string): string {
  return withoutSign(text.slice(text.lastIndexOf(" ") + 1)).toLowerCase();
}

function withoutSign(text: string): string {
  return text.replace(SIGN, "");
}

/** The sign directly before the name, whether it is in this cell or in a column of its own. */
function withSign(text: string, column = ""): string {
  if (text === "" || FORMULA.test(text)) return text;
  const own = SIGN.exec(text);
  const sign = own === null ? (column === "+" || YES.test(column) ? column : "") : own[0].trim();
  return sign === "" ? text : `${sign === "+" ? "+" : "×"}${withoutSign(text)}`;
}

/** Of `Quercus alba` and `Q. alba` beside the genus `Quercus`, `alba`. Of animals, `Bison` and `bison` are both written. */
function withoutGenus(text: string, texts: Texts): string {
  // Most begin with a small letter.
  if (!/^[\p{Lu}x×✕⨯+]/u.test(text)) return text;
  const genus = withoutSign(texts.get("genus") ?? "").toLowerCase();
  const [, first = "", rest = ""] = /^(\p{Lu}\S*)(?:\s+(.+))?$/su.exec(withoutSign(text)) ?? /^(\p{Lu})\s+(.+)$/su.exec(text) ?? [];
  const word = first.toLowerCase();
  if (word === "" || genus === "") return text;
  const isShort = rest !== "" && /^\p{L}(?:\p{L}{0,2}\.)?$/u.test(word) && genus.startsWith(word.replace(".", ""));
  return word === genus || isShort ? rest : text;
}

function withoutSpecies(text: string, texts: Texts): string {
  const rest = withoutGenus(text, texts);
  const species = withoutGenus(texts.get("species") ?? "", texts);
  return species !== "" && rest.startsWith(`${species} `) ? rest.slice(species.length).trimStart() : rest;
}

/** Without a rank, as zoologists write it, the epithet alone. */
function withRank(text: string, rank = ""): string {
  const space = text.indexOf(" ");
  if (text === "" || NO_EPITHET.test(text) || (space !== -1 && findRank(text.slice(0, space)))) return text;
  const written = findRank(rank) ?? rank;
  if (written === "cultivar") return toCultivar(text);
  if (written === "group") return toGroup(text, false);
  if (SIGN.test(`${rank} a`)) return withSign(text, rank);
  return written === "" ? text : `${written} ${text}`;
}

function findRank(text: string): string | undefined {
  return RANKS.get(text.toLowerCase().replaceAll(/[.\s_-]/gu, ""));
}

function toCultivar(text: string): string {
  const epithet = text.replace(/^cv\.?\s+/iu, "");
  const isWritten = SINGLE_QUOTED.test(epithet) || QUOTED_INSIDE.test(epithet) || QUOTED_AT_END.test(epithet);
  const first = findRank(epithet.split(" ", 1)[0] ?? "");
  const isBotanical = first?.endsWith(".") && /^\S+\s+\p{Ll}/u.test(epithet);
  if (isWritten || isBotanical || NO_EPITHET.test(epithet) || GROUP.test(epithet)) return epithet;
  return `'${QUOTED.exec(epithet)?.[1] ?? epithet.replace(QUOTE_OPENS, "")}'`;
}

/** An epithet has a species, and ends as Latin does; otherwise gardeners say how a plant is, as in `dwarf`. */
function toVariety(text: string, texts: Texts): string {
  const epithet = withoutSpecies(text, texts);
  if (!/^\p{Ll}/u.test(epithet)) return toCultivar(text);
  const hasSpecies = !/^(?:spp?|indet)?\.?$/.test(texts.get("species") ?? texts.get(undefined) ?? "");
  return findRank(epithet.split(" ", 1)[0]!) || (hasSpecies && EPITHET.test(epithet)) ? withRank(epithet, "var.") : epithet;
}

/** Whether a cell that is to be a variety is neither an epithet, a cultivar, nor a group: it stands in the name as it is. */
export function isVague(parts: readonly PartOfName[]): boolean {
  const { texts } = readParts(parts);
  const variety = texts.get("variety");
  if (variety === undefined || findRank(variety.split(" ", 1)[0]!)) return false;
  return NO_EPITHET.test(variety) || (/^\p{Ll}/u.test(variety) && toVariety(variety, texts) === variety);
}

/**
 * Whether it is no name because the genus is left out, as people do below a row that has it, or a sign says that it is that
 * of the row above. A cell that has a capital letter may have the genus in it.
 */
export function lacksGenus(parts: readonly PartOfName[]): boolean {
  const { cells, texts } = readParts(parts);
  if (cells.some(({ role, text }) => role !== undefined && isDitto(text))) return true;
  const genus = texts.get("genus") ?? "";
  if (cells.length === 0 || !parts.some(({ role }) => role === "genus") || /[\p{L}?]/u.test(genus)) return false;
  return !/^(?:[×x+]\s*)?\p{Lu}/u.test(texts.get("species") ?? "");
}

/** In brackets before a cultivar. */
function toGroup(text: string, isBeforeCultivar: boolean): string {
  const group = GROUP.test(text) ? text : `${text} Group`;
  return isBeforeCultivar && !group.startsWith("(") ? `(${group})` : group;
}

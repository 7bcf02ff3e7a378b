import type { Bytes } from "./bytes.ts";
import { TableError } from "./table-error.ts";
import { attribute, elementsIn, tagsIn, toPlain, unescape } from "./workbook/xml.ts";
import type { Element } from "./workbook/xml.ts";
import { textOf, unpack } from "./zip.ts";
import type { Zip } from "./zip.ts";

/** The core of a Darwin Core archive, as its `meta.xml` says that it is to be read. */
export type Archive = Readonly<{
  /** That of its file, in the archive. */
  name: string;
  bytes: () => Bytes;
  /** As TextDecoder knows it. */
  encoding: string;
  separator: "," | ";" | "\t" | "|";
  quotes: "double" | "none";
  skippedLines: number;
  /** What each column holds: the last part of a term, or "". */
  headings: readonly string[];
  /** What stands in every row: in its column `at` where that is empty, or in a further one. */
  defaults: readonly Readonly<{ heading: string; text: string; at?: number }>[];
  /** What the other tables hold, which are not imported. */
  extensions: readonly string[];
}>;

/** In the archive, or in the one folder around all of it. */
const META = /^(?:[^/]+\/)?meta\.xml$/i;
/** What macOS puts beside each file of an archive. */
const OF_MACOS = /^__MACOSX\//;

const META_LENGTH_MAX = 1_000_000;
const COLUMNS_MAX = 16_384;
const LINES_SKIPPED_MAX = 1_000;

/** Finds the core of a Darwin Core archive (dwc.tdwg.org/text). Undefined if it has no `meta.xml`. Throws a TableError. */
export async function readArchive(file: Blob, zip: Zip): Promise<Archive | undefined> {
  const names = Array.from(zip.keys()).filter((name) => META.test(name) && !OF_MACOS.test(name));
  const [path] = names.toSorted((a, b) => a.length - b.length);
  const packed = path === undefined ? undefined : zip.get(path);
  if (path === undefined || !packed) return undefined;
  const meta = toPlain(await textOf(unpack(file, packed), META_LENGTH_MAX));
  const [core] = elementsIn(meta, "core");
  if (!core) throw new TableError("The meta.xml of the archive names no core: import its table.");
  const { name, part } = findFile(core.inner, { zip, folder: path.slice(0, path.lastIndexOf("/") + 1) });
  return {
    name,
    bytes: () => unpack(file, part),
    ...toForm(core.tag),
    ...toColumns(core),
    extensions: elementsIn(meta, "extension").map(({ tag }) => lastPart(attribute(tag, "rowType") ?? "")),
  };
}

function findFile(core: string, { zip, folder }: Readonly<{ zip: Zip; folder: string }>) {
  const locations = elementsIn(core, "location").map(({ inner }) => unescape(inner).trim());
  const [location] = locations;
  // Each of several may begin with headings, and end without a line end.
  if (location === undefined || locations.length > 1)
    throw new TableError(`The core of the archive is ${locations.length} files, and must be one: import each table by itself.`);
  const name = folder + location.replace(/^\.?\//, "");
  const part = zip.get(name);
  if (!part) throw new TableError(`The archive lacks the file ${location}, which its meta.xml names: make the archive again.`);
  return { name, part };
}

const SEPARATORS = [",", ";", "\t", "|"] as const;
const LINE_ENDS = ["\n", "\r\n", "\r"];

/** How its text is to be read. What is not said is as in RFC 4180. */
function toForm(core: string): Pick<Archive, "encoding" | "separator" | "quotes" | "skippedLines"> {
  const fields = toSigns(attribute(core, "fieldsTerminatedBy") ?? ",");
  const enclosed = toSigns(attribute(core, "fieldsEnclosedBy") ?? '"');
  const separator = SEPARATORS.find((sign) => sign === fields);
  if (separator === undefined) throw cannotRead("fieldsTerminatedBy", fields, "a comma, semicolon, tab or |");
  if (enclosed !== "" && enclosed !== '"') throw cannotRead("fieldsEnclosedBy", enclosed, 'a " or nothing');
  const lines = toSigns(attribute(core, "linesTerminatedBy") ?? "\n");
  if (!LINE_ENDS.includes(lines)) throw cannotRead("linesTerminatedBy", lines, "\\n, \\r\\n or \\r");
  return {
    encoding: toEncoding(attribute(core, "encoding") ?? "UTF-8"),
    separator,
    quotes: enclosed === "" ? "none" : "double",
    skippedLines: toCount("ignoreHeaderLines", attribute(core, "ignoreHeaderLines") ?? "0", LINES_SKIPPED_MAX),
  };
}

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r" };

function toSigns(text: string): string {
  return text.replaceAll(/\\([tnr])/g, (_, letter: string) => ESCAPES[letter]!);
}

function toEncoding(label: string): string {
  try {
    return new TextDecoder(label as "utf-8").encoding;
  } catch {
    throw cannotRead("encoding", label, "one that browsers know, such as UTF-8");
  }
}

function toCount(name: string, text: string, max: number): number {
  const count = Number(text.trim() || "x");
  if (Number.isInteger(count) && count >= 0 && count <= max) return count;
  throw cannotRead(name, text, `a whole number up to ${max}`);
}

const SHOWN_MAX = 100;

function cannotRead(name: string, text: string, wanted: string): TableError {
  const shown = JSON.stringify(text.slice(0, SHOWN_MAX));
  return new TableError(
    `The meta.xml of the archive has ${name} ${shown}, which must be ${wanted}: change it, or import the table by itself.`,
  );
}

function toColumns({ tag, inner }: Pick<Element, "tag" | "inner">): Pick<Archive, "headings" | "defaults"> {
  const headings: string[] = [];
  const defaults: { heading: string; text: string; at?: number }[] = [];
  function name(at: number, heading: string): void {
    while (headings.length <= at) headings.push("");
    headings[at] ||= heading;
  }
  for (const field of tagsIn(inner, "field")) {
    const heading = lastPart(attribute(field, "term") ?? "");
    const [index, text] = [attribute(field, "index"), attribute(field, "default")];
    const at = index === undefined ? undefined : toCount("index", index, COLUMNS_MAX - 1);
    if (at !== undefined) name(at, heading);
    if (text) defaults.push({ heading, text, ...(at === undefined ? {} : { at }) });
  }
  const [id] = tagsIn(inner, "id");
  // Its column may be one of a term, too.
  if (id !== undefined) name(toCount("index", attribute(id, "index") ?? "", COLUMNS_MAX - 1), toIdTerm(attribute(tag, "rowType") ?? ""));
  return { headings, defaults };
}

/** The id of a Taxon is a taxonID: a heading `id` would promise whole numbers. */
function toIdTerm(rowType: string): string {
  const type = lastPart(rowType) || "core";
  return `${type.slice(0, 1).toLowerCase()}${type.slice(1)}ID`;
}

/** `http://rs.tdwg.org/dwc/terms/scientificName` */
function lastPart(term: string): string {
  return term.split(/[/#:]/).at(-1) ?? "";
}

import { TableError } from "../table-error.ts";
import { piecesOf } from "../zip.ts";

/*
 * As much of XML as the parts of a workbook need: elements of one name, which are not nested, their attributes and texts.
 */

/** The longest element, in characters: more than a row of as many cells as a spreadsheet can have. */
export const ELEMENT_LENGTH_MAX = 1_000_000;
/** What may stand before the first element or behind the last one, such as styles. */
const REST_LENGTH_MAX = 4_000_000;

export const TOO_LONG = "The sheet has a row that is too long: save it as CSV.";

export type Element = Readonly<{
  tag: string;
  inner: string;
  from: number;
  to: number;
}>;

/**
 * The elements of this name, which are not nested. Each character is looked at once, whatever the text is. Throws a
 * TableError if one is not closed.
 */
export function elementsIn(xml: string, name: string): Element[] {
  const begin = pattern(`<((?:\\w+:)?${name})(\\s[^<>]*?)?(/?)>`, "g");
  begin.lastIndex = 0;
  const elements: Element[] = [];
  for (let found = begin.exec(xml); found; found = begin.exec(xml)) {
    const [, fullName = "", tag = "", isClosed] = found;
    const inside = begin.lastIndex;
    const end = isClosed ? { at: inside, to: inside } : findEnd(xml, fullName, inside);
    elements.push({ tag, inner: xml.slice(inside, end.at), from: found.index, to: end.to });
    begin.lastIndex = end.to;
  }
  return elements;
}

/** Making a pattern takes longer than using it on a cell. */
function pattern(source: string, flags: "g" | "s"): RegExp {
  const known = PATTERNS.get(source);
  if (known) return known;
  const made = new RegExp(source, flags);
  PATTERNS.set(source, made);
  return made;
}

/** For the few names that this file asks for. */
const PATTERNS = new Map<string, RegExp>();

function findEnd(xml: string, fullName: string, from: number): Readonly<{ at: number; to: number }> {
  const end = `</${fullName}`;
  for (let at = xml.indexOf(end, from); at !== -1; at = xml.indexOf(end, at + 1)) {
    END_OF_TAG.lastIndex = at + end.length;
    if (END_OF_TAG.test(xml)) return { at, to: END_OF_TAG.lastIndex };
  }
  throw new TableError(NOT_WHOLE);
}

const END_OF_TAG = /\s*>/y;
const NOT_WHOLE = "The XML in the file is incomplete: save it again.";

/** The rest of XML without the elements of names like this, and all that is in them. They may be nested. Throws a TableError. */
export function withoutElements(xml: string, names: string): string {
  const tags = pattern(`<(/?)(?:${names})(?:\\s[^<>]*?)?(/?)>`, "g");
  if (xml.search(tags) === -1) return xml;
  const kept: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { index, 0: tag, 1: isEnd, 2: isClosed } of xml.matchAll(tags)) {
    if (depth === 0) kept.push(xml.slice(from, index));
    if (!isClosed) depth += isEnd ? -1 : 1;
    if (depth < 0) throw new TableError(NOT_WHOLE);
    if (depth === 0) from = index + tag.length;
  }
  if (depth > 0) throw new TableError(NOT_WHOLE);
  return kept.join("") + xml.slice(from);
}

export function tagsIn(xml: string, name: string): string[] {
  return Array.from(xml.matchAll(new RegExp(`<(?:\\w+:)?${name}\\s([^<>]*?)/?>`, "g")), ([, tag = ""]) => tag);
}

export function attribute(tag: string, name: string): string | undefined {
  const [, , value] = pattern(`(?:^|\\s)${name}\\s*=\\s*(["'])(.*?)\\1`, "s").exec(tag) ?? [];
  return value === undefined ? undefined : unescape(value);
}

/** `before`: what stands before it, behind the last one. */
export type PlacedElement = Element & Readonly<{ before: string }>;

function placed(xml: string, elements: readonly Element[]): PlacedElement[] {
  if (elements.some(({ inner }) => inner.length > ELEMENT_LENGTH_MAX)) throw new TableError(TOO_LONG);
  return elements.map((element, at) => ({ ...element, before: xml.slice(elements[at - 1]?.to ?? 0, element.from) }));
}

/** The elements of this name, which are not nested, as they come. Throws a TableError if `root` is not closed. */
export async function* elementsOf(
  bytes: AsyncGenerator<Uint8Array, void, void>,
  name: string,
  root: string,
): AsyncGenerator<PlacedElement[], void, void> {
  let end: string | undefined;
  let rest = "";
  let next = 0;
  for await (const piece of piecesOf(bytes)) {
    rest += piece;
    if (rest.length < next) continue;
    rest = toPlain(rest);
    end ??= new RegExp(`</(?:\\w+:)?${name}\\s*>`).exec(rest)?.[0];
    const last = end === undefined || OPEN.test(rest) ? -1 : rest.lastIndexOf(end);
    if (end !== undefined && last !== -1) {
      const whole = rest.slice(0, last + end.length);
      yield placed(whole, elementsIn(whole, name));
      rest = rest.slice(last + end.length);
    }
    if (rest.length > REST_LENGTH_MAX) throw new TableError(TOO_LONG);
    // A long element is not looked at again with each piece of it.
    next = Math.min(rest.length * LONGER, REST_LENGTH_MAX);
  }
  rest = toPlain(rest);
  const isWhole = new RegExp(`</(?:\\w+:)?${root}\\s*>|<(?:\\w+:)?${root}(?:\\s[^<>]*)?/>`).test(rest);
  if (!isWhole || OPEN.test(rest)) throw new TableError(NOT_WHOLE);
  yield placed(rest, elementsIn(rest, name));
}

const LONGER = 1.5;

/** The tags of this name behind the end of an element, as they come. */
export async function* tagsBehind(
  bytes: AsyncGenerator<Uint8Array, void, void>,
  element: string,
  name: string,
): AsyncGenerator<string[], void, void> {
  const end = new RegExp(`</(?:\\w+:)?${element}\\s*>|<(?:\\w+:)?${element}(?:\\s[^<>]*)?/>`);
  let isBehind = false;
  let rest = "";
  for await (const piece of piecesOf(bytes)) {
    rest += piece;
    const found: RegExpExecArray | null = isBehind ? null : end.exec(rest);
    if (found) rest = rest.slice(found.index + found[0].length);
    isBehind ||= found !== null;
    const whole = isBehind ? rest.lastIndexOf(">") + 1 : Math.max(0, rest.length - TAG_LENGTH_MAX);
    if (isBehind && whole > 0) yield tagsIn(rest.slice(0, whole), name);
    rest = rest.slice(whole);
    if (rest.length > TEXT_LENGTH_MAX) throw new TableError(TOO_LONG);
  }
}

/** What may stand between two tags of a sheet: a formula has 8,192 characters at most. */
const TEXT_LENGTH_MAX = 200_000;

/** The end of an element may be cut in two. */
const TAG_LENGTH_MAX = 100;

/** The same XML without comments, and with CDATA as usual text. One that has no end yet stays, and is looked at once. */
export function toPlain(xml: string): string {
  if (!xml.includes("<!")) return xml;
  return xml.replaceAll(SPECIAL, (whole: string, text = "", end: string) =>
    end === "" ? whole : text.replaceAll("&", "&amp;").replaceAll("<", "&lt;"),
  );
}

const SPECIAL = /<!(?:--.*?(?=-->|$)|\[CDATA\[(.*?)(?=\]\]>|$))(-->|\]\]>|$)/gs;

/** The start of one whose end has not come yet. */
const OPEN = /<!(?:--|\[CDATA\[)/;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text of XML, and of Excel's own `_x000D_`. */
export function unescape(xml: string): string {
  if (!/[&_]/.test(xml)) return xml;
  return xml
    .replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi, (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replaceAll(/_x([0-9a-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

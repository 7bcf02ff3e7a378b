import { toIsoDate } from "./excel-date.ts";
import { toDateFields } from "./date-format.ts";
import type { DateFields } from "./excel-date.ts";

/** A number as its owner sees it. `isDoubtful`: they see it otherwise, so these are its digits. */
type Shown = Readonly<{ text: string; isDoubtful: boolean }>;

/** How numbers are shown (ECMA-376, part 1, 18.8.31). */
export type NumberFormat = Readonly<{
  showNumber: (number: number, is1904: boolean) => Shown;
  showText: (text: string) => string;
  /** Whether it leaves the digits of a whole number as they are. */
  isPlain: boolean;
}>;

type Item = Readonly<{ kind: "literal" | "digit" | "point" | "general"; text: string }>;
/** One for positive numbers, negative ones, zero, and text. */
type Section = Readonly<{ kind: "date"; fields: DateFields }> | Readonly<{ kind: "number"; items: readonly Item[]; percents: number }>;

/** Understands what is usual. What it doesn't know is shown as digits, and doubtful. */
export function parseNumberFormat(code: string): NumberFormat {
  const sections = code.length > CODE_LENGTH_MAX ? [] : splitSections(code || "General").map(parseSection);
  const ofNumbers = sections.length > 1 && isText(sections.at(-1)) ? sections.slice(0, -1) : sections;
  const ofText = sections.findLast(isText);
  return {
    isPlain: /^(general|[#0]+|@)?$/i.test(code),
    showNumber(number, is1904) {
      const hasOwn = number < 0 && ofNumbers.length > 1;
      const section = ofNumbers[hasOwn ? 1 : number === 0 && ofNumbers.length > 2 ? 2 : 0];
      const shown = section && showNumber(hasOwn ? -number : number, section, is1904);
      return shown ?? { text: toDigits(number), isDoubtful: true };
    },
    showText: (text) =>
      ofText?.kind === "number" ? ofText.items.map((item) => (item.kind === "general" ? text : item.text)).join("") : text,
  };
}

/** What Excel takes. */
const CODE_LENGTH_MAX = 255;
const PLACES_MAX = 30;

/** Without a power of ten, if that is possible. */
export function toDigits(number: number): string {
  const text = String(number);
  if (!text.includes("e-")) return text;
  const [digits = "", places] = text.split("e-");
  const fixed = number.toFixed(Math.min(100, digits.replace(/[-.]/g, "").length - 1 + Number(places)));
  return Number(fixed) === number ? fixed : text;
}

const SECTION = /(?:"[^"]*"|\\.|[_*].|\[[^\]]*\]|[^;])+|(?<=^|;)(?=;|$)/gs;

function splitSections(code: string): string[] {
  return (code.match(SECTION) ?? [code]).slice(0, 4);
}

function isText(section: Section | undefined): section is Section {
  return section?.kind === "number" && section.items.some(({ text }) => text === "@");
}

/** Undefined for conditions, fractions, powers of ten, thousands that are left out, and other calendars. */
function parseSection(code: string): Section | undefined {
  // Colours change no letter; `_` and `*` make room.
  const bare = code.replaceAll(/\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\]|\[\$-[^\]]*\]/gi, (tag) =>
    OTHER_CALENDAR.test(tag) ? "[?]" : "",
  );
  const fields = toDateFields(bare);
  if (fields) return { kind: "date", fields };
  const items: Item[] = [];
  let percents = 0;
  for (const { groups = {} } of bare.matchAll(ITEM)) {
    const { quoted, escaped, currency, room, digit, general, separator, sign, other } = groups;
    if (other !== undefined) return undefined;
    if (room !== undefined || separator !== undefined) continue;
    if (sign === "%") percents += 1;
    if (digit !== undefined) items.push({ kind: "digit", text: digit });
    else if (general !== undefined) items.push({ kind: "general", text: general });
    else if (sign === "." && !items.some(({ kind }) => kind === "point")) items.push({ kind: "point", text: sign });
    else items.push({ kind: "literal", text: quoted ?? escaped ?? currency ?? sign ?? "" });
  }
  const isScaled = /[0#?],+(?![,0#?])/.test(bare.replaceAll(/"[^"]*"|\\./g, ""));
  return items.length === 0 || isScaled || percents > 1 || items.filter(isDigit).length > PLACES_MAX
    ? undefined
    : { kind: "number", items, percents };
}

/** The calendar is before the four digits of the language: none, or that of the West. */
const OTHER_CALENDAR = /^\[\$-[0-9a-f]*(?!0[01])[0-9a-f]{2}[0-9a-f]{4}\]$/i;

/** `separator`: its sign depends on the language, and an id with separators would be none. */
const ITEM =
  /"(?<quoted>[^"]*)"|\\(?<escaped>.)|\[\$(?<currency>[^\]-]*)(?:-[^\]]*)?\]|(?<room>[_*].)|(?<digit>[0#?])|(?<general>General|@)|(?<separator>,)|(?<sign>[.%$+\-() :!^&'~{}<>=]|[^\0-\x7f])|(?<other>.)/gis;

function showNumber(number: number, section: Section, is1904: boolean): Shown | undefined {
  if (section.kind === "date") return toIsoDate(number, section.fields, is1904);
  const { items, percents } = section;
  if (items.some(({ kind }) => kind === "general")) return showGeneral(number, items);
  const point = items.findIndex(({ kind }) => kind === "point");
  const [before, behind] = point === -1 ? [items, []] : [items.slice(0, point), items.slice(point + 1)];
  const [whole, rest] = toFixed(Math.abs(number) * 100 ** percents, behind.filter(isDigit).length);
  const text =
    point === -1 ? fillWhole(whole, before) : `${fillWhole(whole, before) + (before.some(isDigit) ? "" : whole)}.${fillRest(rest, behind)}`;
  return { text: `${number < 0 && /[1-9]/.test(whole + rest) ? "-" : ""}${text}`.trim(), isDoubtful: false };
}

function isDigit({ kind }: Item): boolean {
  return kind === "digit";
}

function showGeneral(number: number, items: readonly Item[]): Shown {
  const digits = toDigits(Math.abs(number));
  const text = items.map((item) => (item.kind === "general" ? digits : item.text)).join("");
  return { text: `${number < 0 ? "-" : ""}${text}`, isDoubtful: isCut(digits) };
}

/** Whether a spreadsheet shows less of these digits: it has room for 15. */
function isCut(digits: string): boolean {
  return digits.includes("e") || (digits.includes(".") && digits.replace(".", "").replace(/^0+/, "").length > DIGITS_EXACT);
}

/** Excel keeps so many digits of a number and rounds the others. */
export const DIGITS_EXACT = 15;

/** The digits before and behind the point, rounded as decimals are: 1.005 becomes 1.01, though its double is less. */
function toFixed(number: number, places: number): readonly [whole: string, rest: string] {
  const scaled = Math.round(Number((number * 10 ** places).toPrecision(DIGITS_EXACT)));
  const digits = BigInt(scaled)
    .toString()
    .padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  return [whole === "0" ? "" : whole, digits.slice(digits.length - places)];
}

/** The places take their digits from the right. The first one takes the others. */
function fillWhole(digits: string, items: readonly Item[]): string {
  const first = items.findIndex(isDigit);
  let end = digits.length;
  let text = "";
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at]!;
    const from = at === first ? 0 : Math.max(0, end - 1);
    text = (isDigit(item) ? digits.slice(from, end) || (item.text === "0" ? "0" : "") : item.text) + text;
    if (isDigit(item)) end = from;
  }
  return text;
}

function fillRest(digits: string, items: readonly Item[]): string {
  const shown = digits.replace(/0+$/, "").length;
  let at = 0;
  return items
    .map(({ kind, text }) => {
      if (kind !== "digit") return text;
      at += 1;
      return at <= shown || text === "0" ? digits[at - 1]! : "";
    })
    .join("");
}

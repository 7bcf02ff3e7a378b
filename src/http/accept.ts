/** What a server can send in the place of a body as it stands. */
export type Coding = "br" | "gzip" | "identity" | "zstd";

/** One member of a list in which a client says what it likes how much (RFC 9110, 12.4.2): all in lower case, the weight from 0, not at all, to 1. */
type Weighted = Readonly<{ value: string; parameters: readonly string[]; weight: number }>;

/** How well a range fits a media type: what names it more exactly counts before what names it less so. */
type Fit = Readonly<{ weight: number; precision: number }>;

/** What is not named is accepted all the same when it is plain, but after all that is named. */
const LEAST = 0.0001;

const UNWANTED: Fit = { weight: 0, precision: -1 };

/** The coding that is accepted most gladly, the first of several alike; plain where none is, as that is what everybody can read (RFC 9110, 12.5.3). */
export function chooseCoding<Choice extends Coding>(accepted: string | null, codings: readonly Choice[]): Choice | "identity" {
  if (accepted === null) return "identity";
  const weights = new Map(parseWeights(accepted).map(({ value, weight }) => [value === "x-gzip" ? "gzip" : value, weight]));
  let best: Choice | "identity" = "identity";
  let most = weights.get("identity") ?? weights.get("*") ?? LEAST;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    // What is smaller goes before what is plain.
    if (weight > most || (weight === most && weight > 0 && best === "identity")) [best, most] = [coding, weight];
  }
  return best;
}

/**
 * The media type that is accepted most gladly: of several, that which is named most exactly, then the first. Also the first where none is
 * accepted: a client that says so by mistake can still read what it gets (RFC 9110, 12.5.1).
 */
export function chooseType<Type extends string>(accepted: string | null, types: readonly [Type, ...Type[]]): Type {
  const ranges = parseWeights(accepted ?? "*/*");
  let best = types[0];
  let most = UNWANTED;
  for (const type of types) {
    const fit = fitOf(type, ranges);
    if (fit.weight > most.weight || (fit.weight === most.weight && fit.weight > 0 && fit.precision > most.precision)) {
      [best, most] = [type, fit];
    }
  }
  return best;
}

/** Of the ranges that hold a type, the most exact one tells how gladly it is taken. */
function fitOf(type: string, ranges: readonly Weighted[]): Fit {
  const { value, parameters } = parseMember(type);
  const kinds = ["*/*", value.replace(/\/.*/, "/*"), value];
  let best = UNWANTED;
  for (const range of ranges) {
    const kind = kinds.indexOf(range.value === "*" ? "*/*" : range.value);
    if (kind === -1 || !range.parameters.every((parameter) => parameters.includes(parameter))) continue;
    const precision = kind + range.parameters.length;
    if (precision > best.precision) best = { weight: range.weight, precision };
  }
  return best;
}

/** Reads such a list. What follows a weight is no part of a range any more. */
function parseWeights(list: string): Weighted[] {
  return splitUnquoted(list, ",").map(parseMember);
}

function parseMember(member: string): Weighted {
  const [value = "", ...rest] = splitUnquoted(member.toLowerCase(), ";").map((part) => part.trim());
  const parts = rest.map((part) => part.replaceAll('"', ""));
  const at = parts.findIndex((part) => /^q\s*=/.test(part));
  if (at === -1) return { value, parameters: parts, weight: 1 };
  const weight = Number(parts[at]!.replace(/^q\s*=/, ""));
  return { value, parameters: parts.slice(0, at), weight: weight > 0 ? Math.min(weight, 1) : 0 };
}

/** Cuts a text at each separator that stands in no quotes. By hand, as what a regular expression costs here grows with the square of the length. */
function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\" && isQuoted) at += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

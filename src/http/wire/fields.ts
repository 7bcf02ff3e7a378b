/** The header fields of a request. */
export type Fields = Readonly<{
  /** The value of a field, of several with one name joined by ", " (RFC 9110, 5.3); null when there is none. The name is in small letters. */
  get(name: string): string | null;
}>;

/** More than this many are refused. */
const FIELDS_MAX = 198;

const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/** Reads field lines, whose bytes have been checked. Undefined when one of them is none (RFC 9112, 5), "too_many" when there are too many. */
export function parseFields(lines: readonly string[]): Fields | "too_many" | undefined {
  if (lines.length > FIELDS_MAX) return "too_many";
  const values = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!NAME.test(name)) return undefined;
    const key = name.toLowerCase();
    const value = trim(line, colon + 1);
    const before = values.get(key);
    values.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return { get: (name) => values.get(name) ?? null };
}

/** The members of a comma-separated list; empty places are none (RFC 9110, 5.6.1). */
export function membersOf(list: string): string[] {
  return list
    .split(",")
    .map((member) => trim(member, 0))
    .filter((member) => member !== "");
}

/** Without the spaces and tabs around it, which are all the white space that HTTP knows: `String.trim` takes more away. */
function trim(text: string, from: number): string {
  let start = from;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

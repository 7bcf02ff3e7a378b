export type Fields = Readonly<{
  /**
   * The value of a field, or null. Several fields of one name are joined by ", " (RFC 9110, 5.3). The name is in lower
   * case.
   */
  get(name: string): string | null;
  /** What a function finds out about these fields. It is called only once, however many requests repeat them. */
  once<Value>(find: (fields: Fields) => Value): Value;
}>;

/**
 * Most fields in a head.
 *
 * @limit connections: headers of a request
 */
const FIELDS_MAX = 198;

const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/**
 * Parses field lines, whose bytes have been checked. Undefined when a line is invalid (RFC 9112, 5), "too_many" when
 * there are too many.
 */
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
  const found = new Map<unknown, unknown>();
  const fields: Fields = {
    get: (name) => values.get(name) ?? null,
    once<Value>(find: (fields: Fields) => Value) {
      if (!found.has(find)) found.set(find, find(fields));
      return found.get(find) as Value;
    },
  };
  return fields;
}

/** The same fields and another one. What is found out `once` does not see that one. */
export function withField(fields: Fields, name: string, value: string): Fields {
  return { get: (other) => (other === name ? value : fields.get(other)), once: fields.once };
}

/** The members of a comma-separated list, without empty ones (RFC 9110, 5.6.1). */
export function membersOf(list: string): string[] {
  return list
    .split(",")
    .map((member) => trim(member, 0))
    .filter((member) => member !== "");
}

/** Trims spaces and tabs, the only white space of HTTP: `String.trim` removes more. */
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

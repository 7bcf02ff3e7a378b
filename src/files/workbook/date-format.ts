import type { DateFields } from "./excel-date.ts";

/** A letter of a date or time; what is quoted, and what belongs to numbers, is skipped. */
const FIELD =
  /"[^"]*"|\\.|[_*].|\[\$[^\]]*\]|General|(?<hour>\[?h+\]?)|(?<letter>y+|m+|d+|s+(?:\.0+)?)|(?<half>AM\/PM|A\/P|上午\/下午)|(?<other>[a-z[\]@#?%0])/gi;

/** What a section of a number format shows of a date, if it is the format of one, and of a calendar that we know. */
export function toDateFields(section: string): DateFields | undefined {
  const fields: string[] = [];
  let decimals = 0;
  for (const { groups = {} } of section.matchAll(FIELD)) {
    const { hour, letter, other } = groups;
    if (other !== undefined) return undefined;
    const field = (hour ?? letter ?? "").toLowerCase();
    if (field.startsWith("s")) decimals = field.split(".")[1]?.length ?? decimals;
    // Beside hours or seconds, `m` is minutes.
    if (field.startsWith("s") && fields.at(-1) === "m") fields[fields.length - 1] = "minute";
    if (field !== "") fields.push(field.startsWith("[") ? "elapsed" : field[0] === "m" && isHour(fields.at(-1)) ? "minute" : field[0]!);
  }
  if (fields.length === 0) return undefined;
  const has = (field: string) => fields.includes(field);
  const date = !["y", "m", "d"].some(has)
    ? "none"
    : !has("y")
      ? "part"
      : !has("m")
        ? has("d")
          ? "part"
          : "year"
        : has("d")
          ? "day"
          : "month";
  const time = has("elapsed") ? "elapsed" : ["h", "minute", "s"].some(has) ? "clock" : "none";
  return { date, time, hasSeconds: has("s"), decimals: Math.min(3, decimals) };
}

function isHour(field: string | undefined): boolean {
  return field === "h" || field === "elapsed";
}

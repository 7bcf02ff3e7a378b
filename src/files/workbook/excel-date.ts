/** What of a date or a time a format shows. */
export type DateFields = Readonly<{
  date: "day" | "month" | "year" | "part" | "none";
  /** `elapsed`: its hours go on behind 24. */
  time: "clock" | "elapsed" | "none";
  hasSeconds: boolean;
  /** How many digits of a second. */
  decimals: number;
}>;

const DAY_MS = 86_400_000;
/** From 1900-01-00 to 1904-01-01. */
const DAYS_1904 = 1_462;
/** 9999-12-31. */
const SERIAL_MAX = 2_958_465;
/** Excel has the day 1900-02-29, which there was not. Before it, other programs count one day less. */
const SERIAL_OF_NO_DAY = 60;

/**
 * A day that Excel counts, in the form of ISO 8601: the order of day and month in a format depends on the language of its
 * program. Undefined if it is none. `isDoubtful`: its owner sees another day, or less of it.
 */
export function toIsoDate(
  serial: number,
  fields: DateFields,
  is1904: boolean,
): Readonly<{ text: string; isDoubtful: boolean }> | undefined {
  const step = 1_000 / 10 ** fields.decimals;
  // The time is a fraction of a double, so it is never exact.
  const ms = Math.round(Math.round((serial + (is1904 ? DAYS_1904 : 0)) * DAY_MS) / step) * step;
  const days = Math.floor(ms / DAY_MS);
  if (ms < 0 || days > SERIAL_MAX) return undefined;
  const time = toTime(fields.time === "elapsed" ? serial * DAY_MS : ms % DAY_MS, fields);
  if (fields.date === "none") return { text: time, isDoubtful: false };
  const date = toDay(days).slice(0, LENGTHS[fields.date]);
  return { text: time === "" ? date : `${date} ${time}`, isDoubtful: fields.date === "part" || days <= SERIAL_OF_NO_DAY };
}

/** A day and a month without their year are shown with it. */
const LENGTHS = { day: 10, month: 7, year: 4, part: 10 } as const;

function toDay(days: number): string {
  if (days === SERIAL_OF_NO_DAY) return "1900-02-29";
  const since = Date.UTC(1899, 11, days < SERIAL_OF_NO_DAY ? 31 : 30);
  return new Date(since + days * DAY_MS).toISOString().slice(0, 10);
}

function toTime(ms: number, { time, hasSeconds, decimals }: DateFields): string {
  if (time === "none") return "";
  const step = 1_000 / 10 ** decimals;
  const rounded = Math.round(Math.round(ms) / step) * step;
  const hours = String(Math.floor(rounded / 3_600_000));
  const minutes = `${hours.padStart(2, "0")}:${pad(Math.floor(rounded / 60_000) % 60)}`;
  if (!hasSeconds) return minutes;
  const [whole = "", rest] = ((rounded % 60_000) / 1_000).toFixed(decimals).split(".");
  return `${minutes}:${whole.padStart(2, "0")}${rest === undefined ? "" : `.${rest}`}`;
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}

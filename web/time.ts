const DAY_MS = 24 * 60 * 60 * 1000;

let aheadMs = 0;

/** Takes over the time of a response: the clock of a device may be wrong by days. */
export function noteTime({ headers }: Response): void {
  const at = Date.parse(headers.get("date") ?? "");
  if (at > 0) aheadMs = at - Date.now();
}

/** The time of the service, as far as it is known, in milliseconds since 1970. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}

/** Of a time in RFC 3339: the day, in the language and the time of the reader. */
export function dayOf(time: string): string {
  return new Date(time).toLocaleDateString(undefined, { dateStyle: "medium" });
}

/** Of a time in RFC 3339: the day and the minute. */
export function minuteOf(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** Until when a token is valid: the day, or in its last 24 hours the minute. */
export function untilText(expires: string, now: number): string {
  return `until ${Date.parse(expires) - now > DAY_MS ? dayOf(expires) : minuteOf(expires)}`;
}

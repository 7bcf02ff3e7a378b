const DAY_MS = 24 * 60 * 60 * 1000;

/** Of a time in RFC 3339. */
export function dayOf(time: string): string {
  return time.slice(0, 10);
}

/** Of a time in RFC 3339, in UTC as the days are. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

/** Until when a token is valid: the day, or in its last 24 hours the minute. */
export function untilText(expires: string, now: number): string {
  return Date.parse(expires) - now > DAY_MS ? `until ${dayOf(expires)}` : `until ${expires.slice(11, 16)} UTC`;
}

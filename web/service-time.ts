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

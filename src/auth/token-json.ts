import type { Schemas } from "../../contract/generated/schemas.ts";
import { invalidBody } from "../domain/validation.ts";
import type { Token } from "../store/tokens.ts";

/** A token as its holder may know it. */
export function toSession({ id, name, scopes, created, expires, parent }: Token): Schemas["Session"] {
  return {
    id,
    name,
    scopes,
    created: toTime(created),
    ...(expires === undefined ? {} : { expires: toTime(expires) }),
    ...(parent === undefined ? {} : { parent }),
  };
}

/** A token as the service and the commands show it. */
export function toTokenJson(token: Token): Schemas["Token"] {
  const { revoked, lastUsed } = token;
  return {
    ...toSession(token),
    ...(revoked === undefined ? {} : { revoked: toTime(revoked) }),
    ...(lastUsed === undefined ? {} : { lastUsed: toTime(lastUsed) }),
  };
}

/** RFC 3339, in UTC. */
export function toTime(time: number): string {
  return new Date(time).toISOString();
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** As for `days` in the contract. */
const DAYS_MAX = 36_500;

/** RFC 3339, 5.6, without leap seconds. */
const INSTANT = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** When a token ends for which this was asked: after some time, at an instant, or only when it is revoked. Throws `invalid_body`. */
export function parseEnd(
  { days, expires }: Pick<Schemas["NewToken"], "days" | "expires">,
  now: number,
): Readonly<{ lifetimeMs?: number; expires?: number }> {
  if (days !== undefined && expires !== undefined)
    throw invalidBody("The fields `days` and `expires` contradict each other: send one of them.");
  if (days !== undefined) return { lifetimeMs: Math.ceil(days * DAY_MS) };
  if (expires === undefined) return {};
  const end = parseInstant(expires);
  if (end === undefined) throw invalidBody("The field `expires` is not an instant of RFC 3339: send one such as 2027-11-02T09:00:00Z.");
  if (end <= now || end > now + DAYS_MAX * DAY_MS)
    throw invalidBody(`The field \`expires\` must be in the future, and at most ${DAYS_MAX} days away: send such an instant.`);
  return { expires: end };
}

/** Milliseconds since 1970; undefined for anything else, such as the 30th of February. */
function parseInstant(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined;
  return Date.parse(text.toUpperCase());
}

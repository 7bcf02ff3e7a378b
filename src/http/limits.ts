import type { Principal } from "../auth/principal.ts";
import { PlantStoreError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Allowance, Rate } from "../rate.ts";
import { networkOf } from "./address.ts";

/** How many requests may come from whom. */
export type Limits = Readonly<{
  /** Counts a request that was let in. Gives the headers that its answer must have; throws `too_many_requests`. */
  admit(principal: Principal, requestId: string): Readonly<Record<string, string>> | undefined;
  /** Counts a request that was not let in. Gives what it was refused with, or `too_many_requests` in the place of a 401. */
  refuse(refusal: PlantStoreError, address: string, requestId: string): PlantStoreError;
}>;

type LimitsOptions = Readonly<{
  /** Undefined where there is no limit. The last is for requests without a valid token, by address: it never refuses one that has one. */
  token: Rate | undefined;
  address: Rate | undefined;
  refused: Rate | undefined;
  log: Log;
  /** A clock that never goes back, in milliseconds. */
  now: () => number;
}>;

type Kind = "token" | "address" | "refused";
type Counted = Readonly<{ kind: Kind; rate: Rate; allowance: Allowance }>;

/** How often it is logged of one owner that it is over its limit, in milliseconds, and of how many owners. */
const TELL_MS = 10_000;
const TOLD_MAX = 100;

export function createLimits({ token, address, refused, log, now }: LimitsOptions): Limits {
  const told = new Map<string, { at: number; count: number }>();

  /** Logs it, as one line for all in some seconds. */
  function tell(kind: Kind, owner: string, fields: Readonly<Record<string, unknown>>): void {
    const key = `${kind} ${owner}`;
    const last = told.get(key);
    if (last && now() - last.at < TELL_MS) return void (last.count += 1);
    for (const [old, { at }] of told) if (now() - at >= TELL_MS) told.delete(old);
    if (told.size >= TOLD_MAX) return;
    told.set(key, { at: now(), count: 0 });
    log.warn("limit_hit", { kind, ...fields, requests: 1 + (last?.count ?? 0) });
  }

  return {
    admit(principal, requestId) {
      const counted: Counted[] = [];
      if (token && principal.token) counted.push({ kind: "token", rate: token, allowance: token.take(principal.token.id) });
      const network = address ? networkOf(principal.address) : "";
      if (address) counted.push({ kind: "address", rate: address, allowance: address.take(network) });
      if (counted.length === 0) return undefined;
      const headers = toHeaders(counted);
      const over = counted.find(({ allowance }) => !allowance.isAllowed);
      if (!over) return headers;
      const owner = over.kind === "token" ? principal.token!.id : network;
      tell(over.kind, owner, { principal: principal.token?.id, address: principal.address, requestId });
      throw tooMany(over, headers);
    },
    refuse(refusal, from, requestId) {
      if (!refused || refusal.status !== 401) return refusal;
      const counted: Counted = { kind: "refused", rate: refused, allowance: refused.take(networkOf(from)) };
      if (counted.allowance.isAllowed) return refusal;
      tell("refused", networkOf(from), { address: from, requestId });
      return tooMany(counted, toHeaders([counted]));
    },
  };
}

function tooMany({ allowance }: Counted, headers: Readonly<Record<string, string>>): PlantStoreError {
  return new PlantStoreError("too_many_requests", { headers: { ...headers, "retry-after": String(allowance.resetSeconds) } });
}

/** draft-ietf-httpapi-ratelimit-headers-11: lists of structured fields (RFC 9651). */
function toHeaders(counted: readonly Counted[]): Record<string, string> {
  return {
    "ratelimit-policy": counted.map(({ kind, rate }) => `"${kind}";q=${rate.perMinute};w=60`).join(", "),
    ratelimit: counted.map(({ kind, allowance }) => `"${kind}";r=${allowance.remaining};t=${allowance.resetSeconds}`).join(", "),
  };
}

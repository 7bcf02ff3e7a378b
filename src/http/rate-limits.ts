import { ownerOf } from "../principal.ts";
import type { Principal } from "../principal.ts";
import { PlantStoreError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Allowance, Rate } from "../leaky-bucket.ts";
import { networkOf } from "./client-address.ts";

/** Limits how many requests may come from whom. */
export type RateLimits = Readonly<{
  /** Counts a request that was let in. Returns the headers that its response must have. Throws `too_many_requests`. */
  admit(principal: Principal, requestId: string): Readonly<Record<string, string>> | undefined;
  /** Counts a request that was not let in. Returns its refusal, or `too_many_requests` instead of a 401. */
  refuse(refusal: PlantStoreError, address: string, requestId: string): PlantStoreError;
  /** Reports a request that got 503 because there was no room for it. */
  overloaded(principal: Principal, requestId: string): void;
  /** Reports how many followed the first of each owner. Called every REFUSALS_MS, and at the end. */
  flush(): void;
}>;

type RateLimitsOptions = Readonly<{
  /**
   * Undefined where there is no limit. `refused` is for requests without a valid token, by address. It never refuses a
   * request that has one.
   */
  token: Rate | undefined;
  address: Rate | undefined;
  refused: Rate | undefined;
  log: Log;
}>;

type Kind = "token" | "address" | "refused" | "overload";
type Counted = Readonly<{ kind: Kind; rate: Rate; allowance: Allowance }>;

type Fields = Readonly<{ principal?: string | undefined; address: string; requestId: string }>;
type Reported = { count: number; readonly fields: Readonly<Record<string, unknown>> };

/** How many owners over a limit are logged separately; all others are logged together. */
const REPORTED_MAX = 100;

export function createRateLimits({ token, address, refused, log }: RateLimitsOptions): RateLimits {
  const reported = new Map<string, Reported>();

  /** Logs the first refusal of an owner at once, and counts those that follow. */
  function report(kind: Kind, owner: string, { requestId, ...own }: Fields): void {
    const apart = `${kind} ${owner}`;
    const key = reported.size < REPORTED_MAX || reported.has(apart) ? apart : kind;
    const known = reported.get(key);
    if (known) return void (known.count += 1);
    const fields = { kind, ...(key === apart ? own : { address: "others" }) };
    reported.set(key, { count: 0, fields });
    log.warn("limit_hit", { ...fields, requestId, requests: 1 });
  }

  return {
    admit(principal, requestId) {
      if (!token && !address) return undefined;
      const counted: Counted[] = [];
      if (token && principal.token) counted.push({ kind: "token", rate: token, allowance: token.take(principal.token.id) });
      const network = address ? networkOf(principal.address) : "";
      if (address) counted.push({ kind: "address", rate: address, allowance: address.take(network) });
      const headers = toHeaders(counted);
      const over = counted.find(({ allowance }) => !allowance.isAllowed);
      if (!over) return headers;
      const owner = over.kind === "token" ? principal.token!.id : network;
      report(over.kind, owner, { principal: principal.token?.id, address: principal.address, requestId });
      throw tooMany(over, headers);
    },
    refuse(refusal, from, requestId) {
      if (!refused || refusal.status !== 401) return refusal;
      const counted: Counted = { kind: "refused", rate: refused, allowance: refused.take(networkOf(from)) };
      if (counted.allowance.isAllowed) return refusal;
      report("refused", networkOf(from), { address: from, requestId });
      return tooMany(counted, toHeaders([counted]));
    },
    overloaded(principal, requestId) {
      report("overload", ownerOf(principal), { principal: principal.token?.id, address: principal.address, requestId });
    },
    flush() {
      for (const [key, one] of reported) {
        if (one.count === 0) reported.delete(key);
        else log.warn("limit_hit", { ...one.fields, requests: one.count });
        one.count = 0;
      }
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

import { ownerOf } from "../auth/principal.ts";
import type { Principal } from "../auth/principal.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { createFloodLog } from "../runtime/flood-log.ts";
import type { Log } from "../runtime/log.ts";
import type { Allowance, Rate } from "../runtime/leaky-bucket.ts";
import { networkOf } from "./client-address.ts";

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

type From = Readonly<{ principal?: string | undefined; address: string; requestId: string }>;

export type RateLimits = ReturnType<typeof createRateLimits>;

/** Limits how many requests may come from whom. */
export function createRateLimits({ token, address, refused, log }: RateLimitsOptions) {
  const floods = createFloodLog((fields, requests) => log.warn("limit_hit", { ...fields, requests }));

  function report(kind: Kind, owner: string, { requestId, ...own }: From): void {
    floods.note(owner, { own, kind: { kind }, requestId });
  }

  return {
    /** Counts a request that was let in. Returns the headers that its response must have. Throws `too_many_requests`. */
    admit(principal: Principal, requestId: string): Readonly<Record<string, string>> | undefined {
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
    /** Counts a request that was not let in. Returns its refusal, or `too_many_requests` instead of a 401. */
    refuse(refusal: PlantStoreError, from: string, requestId: string): PlantStoreError {
      if (!refused || refusal.status !== 401) return refusal;
      const counted: Counted = { kind: "refused", rate: refused, allowance: refused.take(networkOf(from)) };
      if (counted.allowance.isAllowed) return refusal;
      report("refused", networkOf(from), { address: from, requestId });
      return tooMany(counted, toHeaders([counted]));
    },
    /** Reports a request that got 503 because there was no room for it. */
    overloaded(principal: Principal, requestId: string): void {
      report("overload", ownerOf(principal), { principal: principal.token?.id, address: principal.address, requestId });
    },
    /** Reports how many followed the first of each owner. Call it every FLOODS_MS, and before the process ends. */
    flush: floods.flush,
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

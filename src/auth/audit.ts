import type { Log } from "../log.ts";
import type { PlantId } from "../plant.ts";
import type { Principal } from "../principal.ts";

/** What was done, by whom, from where: one event each, or one for many, in the log. Its events are listed in docs/reference/log-events.md. */
export type Audit = Readonly<{
  /** Something that is rare enough for an event of its own. */
  note(event: AuditEvent, who: Who, fields: Readonly<Record<string, unknown>>): void;
  /** A change that was made. */
  changed(who: Who, change: PlantChange, id: PlantId): void;
  /** A request that was not let in, with the name of the error. Of many from one address the first is told at once, and how many followed every REFUSALS_MS. */
  refused(who: Who, outcome: string): void;
  /** Tells what was counted, and counts anew. Once a minute, and at the end. */
  flushChanges(): void;
  /** Every REFUSALS_MS, and at the end. */
  flushRefusals(): void;
}>;

type AuditEvent = "token_created" | "token_revoked" | "import_ended" | "export_ended";

export type PlantChange = "created" | "replaced" | "deleted";

/** How changes of plants are told: not at all, as one sum a token and minute, or each. */
export const CHANGE_LOGS = ["none", "sum", "each"] as const;
export type ChangeLog = (typeof CHANGE_LOGS)[number];

/** A call is one. */
export type Who = Readonly<{ principal: Principal; requestId: string }>;

export const REFUSALS_MS = 10_000;

/** How many addresses or tokens have a count of their own; all others share one. */
const COUNTED_MAX = 100;
const OTHERS = "others";

type Refusals = { count: number; readonly fields: Readonly<Record<string, unknown>> };
type Sum = Record<PlantChange, number>;

export function createAudit({ log, changes }: { log: Log; changes: ChangeLog }): Audit {
  const refusals = new Map<string, Refusals>();
  const sums = new Map<string, Sum>();

  function sumOf(token: string): Sum {
    const known = sums.get(token);
    if (known) return known;
    if (sums.size > COUNTED_MAX && token !== OTHERS) return sumOf(OTHERS);
    const sum = { created: 0, replaced: 0, deleted: 0 };
    sums.set(token, sum);
    return sum;
  }

  return {
    note(event, who, fields) {
      log.info(event, { ...toFields(who), ...fields });
    },
    changed(who, change, id) {
      if (changes === "sum") sumOf(who.principal.token?.id ?? "")[change] += 1;
      else if (changes === "each") log.info("plant_changed", { ...toFields(who), change, id });
    },
    refused(who, outcome) {
      const isCounted = refusals.size < COUNTED_MAX;
      const { requestId, ...own } = toFields(who);
      const apart = `${outcome} ${own.address} ${own.principal ?? ""}`;
      const key = isCounted || refusals.has(apart) ? apart : `${outcome} ${OTHERS}`;
      const known = refusals.get(key);
      if (known) {
        known.count += 1;
        return;
      }
      const fields = { ...(key === apart ? own : { address: OTHERS }), outcome };
      refusals.set(key, { count: 0, fields });
      log.info("login_refused", { ...fields, requestId, count: 1 });
    },
    flushChanges() {
      for (const [principal, sum] of sums) log.info("plants_changed", { principal, ...sum });
      sums.clear();
    },
    flushRefusals() {
      for (const [key, refused] of refusals) {
        if (refused.count === 0) refusals.delete(key);
        else log.info("login_refused", { ...refused.fields, count: refused.count });
        refused.count = 0;
      }
    },
  };
}

function toFields({ principal: { token, address }, requestId }: Who): Readonly<{ principal?: string; address: string; requestId: string }> {
  return { ...(token === undefined ? {} : { principal: token.id }), address, requestId };
}

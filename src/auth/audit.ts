import { PlantStoreError } from "../domain/errors.ts";
import { createFloodLog } from "../runtime/flood-log.ts";
import type { Log } from "../runtime/log.ts";
import type { ChangeKind } from "../domain/change.ts";
import type { PlantId } from "../domain/plant.ts";
import type { Principal } from "./principal.ts";

type AuditEvent = "token_created" | "token_revoked" | "import_ended" | "export_ended";

/** How to log changes of plants: not at all, as one sum per token and minute, or each one. */
export const CHANGE_LOGS = ["none", "sum", "each"] as const;
export type ChangeLog = (typeof CHANGE_LOGS)[number];

/** Who made a request. Every `Call` has these fields. */
export type Who = Readonly<{ principal: Principal; requestId: string }>;

/** How many tokens have their own count. All others share one. */
const COUNTED_MAX = 100;
const OTHERS = "others";

type Sum = Record<ChangeKind | "unknown", number>;

export type Audit = ReturnType<typeof createAudit>;

/** Logs who did what, from where. One event may count many changes or refusals (docs/reference/log-events.md). */
export function createAudit({ log, changes }: { log: Log; changes: ChangeLog }) {
  const refusals = createFloodLog((fields, count) => log.info("login_refused", { ...fields, count }));
  const sums = new Map<string, Readonly<{ name: string | undefined; sum: Sum }>>();

  function sumOf(id: string, name: string | undefined): Sum {
    const known = sums.get(id);
    if (known) return known.sum;
    if (sums.size > COUNTED_MAX && id !== OTHERS) return sumOf(OTHERS, undefined);
    const sum = { created: 0, replaced: 0, deleted: 0, unknown: 0 };
    sums.set(id, { name, sum });
    return sum;
  }

  function logChange(who: Who, change: ChangeKind, id: PlantId, outcome: "done" | "unknown"): void {
    const { token } = who.principal;
    if (changes === "sum") sumOf(token?.id ?? "", token?.name)[outcome === "done" ? change : "unknown"] += 1;
    else if (changes === "each") log.info("plant_changed", { ...toFields(who), change, id, outcome });
  }

  return {
    /** Logs something rare enough to have its own event. */
    note(event: AuditEvent, who: Who, fields: Readonly<Record<string, unknown>>): void {
      log.info(event, { ...toFields(who), ...fields });
    },
    /** Logs or counts a change that was made. */
    changed(who: Who, change: ChangeKind, id: PlantId): void {
      logChange(who, change, id, "done");
    },
    /**
     * Logs or counts a failed change if it may have been made anyway. If it was, a retry would change nothing and so log
     * nothing.
     */
    failed(who: Who, change: ChangeKind, id: PlantId, reason: unknown): void {
      if (mayBeMade(reason)) logChange(who, change, id, "unknown");
    },
    /** Logs a refused request; `outcome` is the name of the error. Those that follow it are counted. */
    refused(who: Who, outcome: string): void {
      const { requestId, ...own } = toFields(who);
      refusals.note(`${own.address} ${own.principal ?? ""}`, { own, kind: { outcome }, requestId });
    },
    /** Logs the counts of changes and resets them. Call it once a minute, and before the process ends. */
    flushChanges(): void {
      for (const [principal, { name, sum }] of sums) log.info("plants_changed", { principal, principalName: name, ...sum });
      sums.clear();
    },
    /** Logs the counts of refusals. Call it every FLOODS_MS, and before the process ends. */
    flushRefusals: refusals.flush,
  };
}

/**
 * Whether a change that failed for this reason may have been made anyway. A commit of several statements may have made
 * some of its changes.
 */
export function mayBeMade(reason: unknown): boolean {
  return !(reason instanceof PlantStoreError) || reason.code === "store_unavailable" || reason.code === "store_full";
}

type WhoFields = Readonly<{ principal?: string; principalName?: string; address: string; requestId: string }>;

function toFields({ principal: { token, address }, requestId }: Who): WhoFields {
  return { ...(token === undefined ? {} : { principal: token.id, principalName: token.name }), address, requestId };
}

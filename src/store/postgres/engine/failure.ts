import { DatabaseError } from "pg";
import { PlantStoreError } from "../../../domain/errors.ts";

/** The statement never reached the server. */
export class UnsentError extends Error {
  constructor(cause: unknown) {
    super(`No connection to the database: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "UnsentError";
  }
}

/** The server exceeded its time limit. */
export class LateError extends Error {
  constructor(limitMs: number, advice = "") {
    super(`The database did not answer within ${Math.round(limitMs)} ms.${advice}`);
    this.name = "LateError";
  }
}

/** The server committed, and warns that it did not wait for its standby. */
export class UnconfirmedError extends Error {
  constructor(warning: string | undefined) {
    super(`The database committed with a warning: ${warning}`);
    this.name = "UnconfirmedError";
  }
}

/** The guard of a statement did not let it run. */
export class GuardError extends Error {
  constructor() {
    super("The database no longer has what the statement refers to.");
    this.name = "GuardError";
  }
}

/** What a failure means for the caller. */
export type Verdict = Readonly<{
  /** The error that a caller may see. Undefined for what no machine can cause: that is a bug. */
  error: PlantStoreError | undefined;
  /** Whether a retry may succeed. */
  isTransient: boolean;
  /** Whether it is certain that nothing changed. */
  isUndone: boolean;
}>;

/** The connection does not have the prepared statement that it should, or has another of that name. */
const FORGOTTEN = ["26000", "42P05"];

/** The same: a column has another type since the statement was prepared. Its code is that of much else (plancache.c). */
const OUTDATED = "RevalidateCachedQuery";

/** What RAISE in a function of someone else reports, with any code that they like (pl_exec.c). */
const RAISED = "exec_stmt_raise";

/** What reports that the server has no number left for a transaction until someone has vacuumed (varsup.c, multixact.c). */
const EXHAUSTED: readonly (string | undefined)[] = ["GetNewTransactionId", "GetNewMultiXactId"];

// SQLSTATE, a class or a full code (postgresql.org/docs/current/errcodes-appendix.html).
const REFUSED = ["22", "23", "54", "P0"];
const BUGS = ["42601", "42804", "42846", "42883", "42P02", "42P18"];
const UNDONE_AND_TRANSIENT = ["40001", "40P01", "55P03", "25006"];
const TRANSIENT = ["08", "40003", "53", "57P", "58"];
const DISK_FULL = "53100";
const QUERY_CANCELED = "57014";

/** Whether the server is read-only, like a standby: another server may take the change. */
export function isReadOnly(thrown: unknown): boolean {
  return sqlStateOf(thrown) === "25006";
}

/** Whether the server refuses a statement for its content: by a limit, a constraint or a foreign trigger. Nothing changed. */
export function isRefused(thrown: unknown): boolean {
  if (!(thrown instanceof DatabaseError) || isExhausted(thrown)) return false;
  const isRaised = thrown.routine === RAISED && !UNDONE_AND_TRANSIENT.includes(thrown.code ?? "");
  return isRaised || REFUSED.some((code) => thrown.code?.startsWith(code));
}

/** Its code is that of a limit that a single plant exceeds. */
function isExhausted(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && EXHAUSTED.includes(thrown.routine);
}

/** Whether someone else held a lock for too long. */
export function isLocked(thrown: unknown): boolean {
  return sqlStateOf(thrown) === "55P03";
}

/**
 * Whether a statement was meant for what is not there, or may not be used: its guard said so, or the server does, in one
 * of the ways of class 42, or as an internal error. That is what Citus reports of a shard that it no longer has, as after
 * a split ("could not find valid entry for shard"), and PostgreSQL of a table that goes meanwhile. Nothing changed.
 */
export function isMisplaced(thrown: unknown): boolean {
  const state = sqlStateOf(thrown);
  return thrown instanceof GuardError || state === "XX000" || state?.startsWith("42") === true;
}

/** The server is used no more: what it was asked for may be elsewhere. Nothing changed. */
export function leftServer(): PlantStoreError {
  return new PlantStoreError("store_unavailable", { cause: new GuardError() });
}

/** Whether a connection may be used again after this: the statement failed, and nothing else. */
export function isSound(thrown: unknown): boolean {
  if (thrown instanceof GuardError) return true;
  const isError = thrown instanceof DatabaseError && thrown.severity === "ERROR";
  return isError && !isReadOnly(thrown) && !isForgotten(thrown);
}

/** Whether another connection would do what this one cannot any more. */
function isForgotten(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && (FORGOTTEN.includes(thrown.code ?? "") || thrown.routine === OUTDATED);
}

/** Whether this server works, and says that another one behind it does not: a worker of Citus. */
export function isElsewhere(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && thrown.severity === "ERROR" && thrown.code === "08006";
}

/** Whether concurrent work got in the way: PostgreSQL and its relatives ask for a retry. */
export function isConflict(thrown: unknown): boolean {
  const state = sqlStateOf(thrown);
  return state === "40001" || state === "40P01";
}

export function judge(thrown: unknown): Verdict {
  if (thrown instanceof PlantStoreError) return { error: thrown, isTransient: false, isUndone: true };
  const reason = thrown instanceof UnsentError ? thrown.cause : thrown;
  const state = sqlStateOf(reason);
  // A connection that broke, or a statement that was given up: its outcome is unknown.
  if (state === undefined)
    return unavailable(reason instanceof LateError ? undefined : thrown, { isTransient: true, isUndone: thrown instanceof UnsentError });
  const starts = (codes: readonly string[]): boolean => codes.some((code) => state.startsWith(code));
  if (isRefused(reason) || starts(BUGS)) return { error: undefined, isTransient: false, isUndone: true };
  if (state === DISK_FULL) return { error: new PlantStoreError("store_full", { cause: thrown }), isTransient: false, isUndone: true };
  if (state === QUERY_CANCELED) return { error: new PlantStoreError("overloaded", { cause: thrown }), isTransient: false, isUndone: true };
  if (starts(UNDONE_AND_TRANSIENT) || isForgotten(reason) || isExhausted(reason))
    return unavailable(thrown, { isTransient: true, isUndone: true });
  return unavailable(thrown, { isTransient: starts(TRANSIENT), isUndone: thrown instanceof UnsentError || !starts(TRANSIENT) });
}

/** Without a cause, the database is late, and may only be slow. */
function unavailable(cause: unknown, how: Readonly<{ isTransient: boolean; isUndone: boolean }>): Verdict {
  return { error: new PlantStoreError("store_unavailable", cause === undefined ? {} : { cause }), ...how };
}

/** The SQLSTATE that the server, or a pooler, gave. */
export function sqlStateOf(thrown: unknown): string | undefined {
  return thrown instanceof DatabaseError ? thrown.code : undefined;
}

/** Data or an index that is not whole, or an error of the disk (errcodes-appendix). */
const DAMAGE: readonly (string | undefined)[] = ["XX001", "XX002", "58030"];

/** Whether a statement failed because what is stored is damaged. */
export function isDamage(reason: unknown): boolean {
  return DAMAGE.includes(sqlStateOf(reason));
}

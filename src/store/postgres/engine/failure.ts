import { DatabaseError } from "pg";
import { PlantStoreError } from "../../../errors.ts";

/** The statement never reached the server. */
export class UnsentError extends Error {
  constructor(cause: unknown) {
    super(`No connection to the database: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "UnsentError";
  }
}

/** The server took longer than it was given. */
export class LateError extends Error {
  constructor(limitMs: number) {
    super(`The database did not answer within ${Math.round(limitMs)} ms.`);
    this.name = "LateError";
  }
}

/** The server says that it committed, and warns that it did so without waiting for its standby. */
export class UnconfirmedError extends Error {
  constructor(warning: string | undefined) {
    super(`The database committed with a warning: ${warning}`);
    this.name = "UnconfirmedError";
  }
}

/** What a failure means for whoever asked. */
export type Verdict = Readonly<{
  /** What a caller may know; undefined for what no machine can cause: that is a bug. */
  error: PlantStoreError | undefined;
  /** Whether another try may succeed. */
  isPassing: boolean;
  /** Whether surely nothing was changed. */
  isUndone: boolean;
}>;

// SQLSTATE, by class or whole (postgresql.org/docs/current/errcodes-appendix.html).
const BUGS = ["22", "23", "42601", "42804", "42846", "42883", "42P02", "42P18"];
const UNDONE_AND_PASSING = ["40001", "40P01", "55P03", "25006"];
const PASSING = ["08", "40003", "53", "57P", "58"];
const DISK_FULL = "53100";
const QUERY_CANCELED = "57014";

/** Whether the server takes no changes, as a standby does: another one may. */
export function isReadOnly(thrown: unknown): boolean {
  return sqlStateOf(thrown) === "25006";
}

/** Whether concurrent work was in the way: PostgreSQL and its relatives ask for another try. */
export function isConflict(thrown: unknown): boolean {
  const state = sqlStateOf(thrown);
  return state === "40001" || state === "40P01";
}

export function judge(thrown: unknown): Verdict {
  if (thrown instanceof PlantStoreError) return { error: thrown, isPassing: false, isUndone: true };
  const reason = thrown instanceof UnsentError ? thrown.cause : thrown;
  const state = sqlStateOf(reason);
  // A connection that broke, or was given up: nobody knows what became of the statement.
  if (state === undefined) return unavailable(thrown, { isPassing: true, isUndone: thrown instanceof UnsentError });
  const starts = (codes: readonly string[]): boolean => codes.some((code) => state.startsWith(code));
  if (starts(BUGS)) return { error: undefined, isPassing: false, isUndone: true };
  if (state === DISK_FULL) return { error: new PlantStoreError("store_full", { cause: thrown }), isPassing: false, isUndone: true };
  if (state === QUERY_CANCELED) return { error: new PlantStoreError("overloaded", { cause: thrown }), isPassing: false, isUndone: true };
  if (starts(UNDONE_AND_PASSING)) return unavailable(thrown, { isPassing: true, isUndone: true });
  return unavailable(thrown, { isPassing: starts(PASSING), isUndone: thrown instanceof UnsentError || !starts(PASSING) });
}

function unavailable(cause: unknown, how: Readonly<{ isPassing: boolean; isUndone: boolean }>): Verdict {
  return { error: new PlantStoreError("store_unavailable", { cause }), ...how };
}

function sqlStateOf(thrown: unknown): string | undefined {
  return thrown instanceof DatabaseError ? thrown.code : undefined;
}

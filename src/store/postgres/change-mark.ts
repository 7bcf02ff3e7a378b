/**
 * A process of the server that writes to the log, by its lock on it: the 32 bits that the lock of its transaction shows.
 * One with subtransactions comes more than once. Undefined: it shows none.
 */
export type Writing = Readonly<{ pid: bigint; xid: bigint | undefined }>;

/** `upper`: the upper bound of a snapshot that was taken before the locks were looked at. */
export type Look = Readonly<{ upper: bigint; writing: readonly Writing[] }>;

const XID_MASK = 2n ** 32n - 1n;
const NEWER_MIN = 2n ** 31n;

/**
 * The low-water mark of the log: no transaction below it will add a row. Undefined as long as no one knows any. What is
 * read below it has to be read by a statement that begins later.
 *
 * Why that holds. A statement that adds a row takes its lock on the log (ROW EXCLUSIVE) when it is planned, or when its
 * plan is taken from memory; it has its number only when it has changed the first plant, behind that; and it keeps the
 * lock until others see its rows. It is the only statement with a number of its transaction. So:
 *
 * - A transaction without the lock when we looked either has ended before, and a later statement sees its rows, or it
 *   takes its number later than our snapshot, which is `upper` or more.
 * - With the lock, it shows its number as the lock of its transaction, which it takes a moment after the number. In
 *   that moment it shows none, though its number may be below `upper`: we keep the mark of `before`, for which the same
 *   was true. To those that have no number yet it makes no difference but time.
 * - Locks are seen wherever the server keeps them: those of single processes (fast path) are read before those of all,
 *   and move only in that direction. A prepared transaction keeps both locks.
 * - What only deletes or erases (ROW EXCLUSIVE too) holds the mark back while it runs; what only reads, as pg_dump does,
 *   or vacuums, has another lock; what has a number without this lock, in this database or another, is not looked at.
 *   By the snapshot's lower bound all of them would hold it back.
 *
 * The program of someone else that adds rows in a transaction which has changed something before breaks this: no one
 * but us writes to the log.
 */
export function markOf({ upper, writing }: Look, before: bigint | undefined): bigint | undefined {
  // The numbers of a server go up. It is another one, or another state of it; if it has higher ones, what runs may still be
  // below the mark.
  const known = before !== undefined && before <= upper ? before : undefined;
  const shown = writing.flatMap(({ xid }) => (xid === undefined ? [] : [toWhole(xid, upper)]));
  const highest = shown.length < writing.length ? known : upper;
  return highest === undefined ? undefined : shown.reduce(least, highest);
}

/** All 64 bits of a transaction that runs (transam/README: it is less than 2^31 away). At or above `upper` it does not matter. */
function toWhole(xid: bigint, upper: bigint): bigint {
  const behind = (upper - xid) & XID_MASK;
  return behind < NEWER_MIN ? upper - behind : upper;
}

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

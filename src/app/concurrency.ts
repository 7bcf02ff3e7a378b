/**
 * How many imports, exports, and requests with many changes, may run at a time.
 *
 * @limit files: imports at a time
 */
export const IMPORTS_MAX = 8;
/** @limit files: exports at a time */
export const EXPORTS_MAX = 8;
/** @limit writes: requests with many changes at a time */
export const BULKS_MAX = 8;

/**
 * How many lists, searches and steps of imports run at a time, and wait. One token may use four slots, which keep two
 * processors busy. The fifth is free for the next token. The wait is as long as that of a search.
 */
export const TURNS = {
  slots: 5,
  ownerSlots: 4,
  /** @limit reads: waiting searches of one token, on PostgreSQL lists too; twice as many in all */
  waitingMax: 256,
  /** @limit reads: wait of a search for its turn */
  waitMs: 5000,
};

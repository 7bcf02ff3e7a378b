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

/**
 * The same for the past of plants and imports, which hold a turn for up to seconds: on SQLite a page of them looks through
 * the log. They take no more than two of the five slots, one of each token, so that searches find others.
 */
export const PAST_TURNS = {
  slots: 2,
  ownerSlots: 1,
  /** @limit reads: waiting requests of one token for the past of plants and imports; twice as many in all */
  waitingMax: 64,
  /** @limit reads: wait of such a request for its turn */
  waitMs: 5000,
};

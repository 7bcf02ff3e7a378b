/** How many imports, exports, and requests with many changes, may run at a time. */
export const IMPORTS_MAX = 8;
export const EXPORTS_MAX = 8;
export const BULKS_MAX = 8;

/**
 * How many lists, searches and steps of imports run at a time, and wait. One token may use four slots, which keep two
 * processors busy. The fifth is free for the next token. The wait is as long as that of a search.
 */
export const TURNS = { slots: 5, ownerSlots: 4, waitingMax: 256, waitMs: 5000 };

import type { TaskQueue } from "../../runtime/event-loop.ts";

/** How many pipelined requests are answered in a row while no other connection waits for its turn. */
const IN_ROW_MAX = 8;

export type Turns = ReturnType<typeof createTurns>;

/**
 * The turns of a connection with pipelined requests: a thousand of these would otherwise block the event loop until all
 * are answered.
 */
export function createTurns(tasks: TaskQueue, begin: () => void) {
  let inRow = 0;
  let isYielding = false;

  function resume(): void {
    isYielding = false;
    begin();
  }

  return {
    /** Begins the next request: at once, or when the connection has its turn again. */
    take(): void {
      inRow += 1;
      if (inRow < IN_ROW_MAX && !tasks.isBusy()) return begin();
      inRow = 0;
      isYielding = true;
      tasks.add(resume);
    },
    /** No request waits any more. */
    end: () => void (inRow = 0),
    /** Whether requests wait for the turn of this connection. */
    isYielding: () => isYielding,
  };
}

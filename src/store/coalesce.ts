type CoalesceOptions<Key, Value> = Readonly<{
  /** One value a key, in the same order, all as they are at one moment after the call. */
  readAll: (keys: readonly Key[]) => readonly Value[] | Promise<readonly Value[]>;
  /** How many readings may run at a time; what is asked for meanwhile waits for the next. */
  inFlightMax: number;
}>;

/** What is read together. */
type Reading<Key, Value> = Readonly<{ keys: Key[]; values: PromiseWithResolvers<readonly Value[]> }>;

/**
 * Group read: what is asked for in one turn of the event loop is read at one moment, after all of it was asked for. To begin and end a
 * reading takes SQLite four system calls, about as long as the reading itself; a database elsewhere takes a message each way.
 */
export function coalesceReads<Key, Value>({ readAll, inFlightMax }: CoalesceOptions<Key, Value>): (key: Key) => Promise<Value> {
  let waiting: Reading<Key, Value> | undefined;
  let inFlight = 0;

  async function read({ keys, values }: Reading<Key, Value>): Promise<void> {
    inFlight += 1;
    try {
      values.resolve(await readAll(keys));
    } catch (reason) {
      values.reject(reason);
    }
    inFlight -= 1;
    next();
  }

  function next(): void {
    if (!waiting || inFlight >= inFlightMax) return;
    const reading = waiting;
    waiting = undefined;
    void read(reading);
  }

  function open(): Reading<Key, Value> {
    setImmediate(next);
    return { keys: [], values: Promise.withResolvers() };
  }

  return async (key) => {
    const { keys, values } = (waiting ??= open());
    const at = keys.push(key) - 1;
    return (await values.promise)[at]!;
  };
}

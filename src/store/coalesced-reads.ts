type CoalesceOptions<Key, Value> = Readonly<{
  /** Reads one value for each key, in the same order, from one snapshot that is taken after the call. */
  readAll: (keys: readonly Key[]) => readonly Value[] | Promise<readonly Value[]>;
  /** How many reads may run at a time. Keys requested meanwhile wait for the next one. */
  inFlightMax: number;
}>;

/** Keys that are read together. */
type Reading<Key, Value> = Readonly<{ keys: Key[]; values: PromiseWithResolvers<readonly Value[]> }>;

/**
 * Coalesced reads: keys requested in one turn of the event loop are read from one snapshot, taken after all of the
 * requests. Beginning and ending a read takes SQLite four system calls, about as long as the read itself. A remote
 * database needs a message each way.
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

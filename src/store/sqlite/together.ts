/**
 * Group read: what is asked for in one turn of the event loop is read at one moment, after all of it was asked for. To begin and end a
 * reading takes SQLite four system calls, about as long as the reading itself.
 */
export function readTogether<Key, Value>(readAll: (keys: readonly Key[]) => readonly Value[]): (key: Key) => Promise<Value> {
  let waiting: { keys: Key[]; values: Promise<readonly Value[]> } | undefined;

  function open(): { keys: Key[]; values: Promise<readonly Value[]> } {
    const keys: Key[] = [];
    const values = new Promise(setImmediate).then(() => {
      waiting = undefined;
      return readAll(keys);
    });
    return { keys, values };
  }

  return async (key) => {
    const { keys, values } = (waiting ??= open());
    const at = keys.push(key) - 1;
    return (await values)[at]!;
  };
}

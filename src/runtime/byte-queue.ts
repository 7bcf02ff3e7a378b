/**
 * A queue of bytes: added at the end, taken from the front. Its cost grows with the bytes, not with the number of
 * calls.
 */
export type ByteQueue = Readonly<{
  length(): number;
  /** All bytes. They do not change when more are added. */
  bytes(): Uint8Array;
  /** The first byte. */
  first(): number | undefined;
  put(more: Uint8Array): void;
  drop(count: number): void;
  clear(): void;
  /** Removes bytes from the front, all by default, and returns them. */
  take(count?: number): Uint8Array;
}>;

const NOTHING: Uint8Array = new Uint8Array();

export function createByteQueue(): ByteQueue {
  let memory = NOTHING;
  /** Where the bytes are in memory. */
  let start = 0;
  let end = 0;
  /** Whether this queue allocated the memory, so that it may write behind the bytes. */
  let isOwn = false;

  /** Doubles the memory, so that bytes that arrive one by one are not copied each time. */
  function grow(needed: number): void {
    const grown = new Uint8Array(2 * (end - start + needed));
    grown.set(memory.subarray(start, end));
    [start, end] = [0, end - start];
    memory = grown;
    isOwn = true;
  }

  function drop(count: number): void {
    start += count;
    if (start < end) return;
    memory = NOTHING;
    start = end = 0;
    isOwn = false;
  }

  return {
    length: () => end - start,
    first: () => memory[start],
    // Most heads arrive whole: they need no view, which is an allocation.
    bytes: () => (start === 0 && end === memory.length ? memory : memory.subarray(start, end)),
    put(more) {
      if (more.length === 0) return;
      if (start === end) {
        memory = more;
        start = 0;
        end = more.length;
        isOwn = false;
        return;
      }
      if (!isOwn || end + more.length > memory.length) grow(more.length);
      memory.set(more, end);
      end += more.length;
    },
    drop,
    clear: () => drop(end - start),
    take(count = end - start) {
      const taken = memory.subarray(start, start + count);
      drop(count);
      return taken;
    },
  };
}

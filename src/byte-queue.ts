/**
 * A queue of bytes: added at the end, taken from the front. Its cost grows with the bytes, not with the number of
 * calls.
 */
export type ByteQueue = Readonly<{
  /** All bytes. They do not change when more are added. */
  bytes(): Uint8Array;
  put(more: Uint8Array): void;
  drop(count: number): void;
  clear(): void;
  /** Removes all bytes and returns them. */
  take(): Uint8Array;
}>;

const NOTHING: Uint8Array = new Uint8Array();

export function createByteQueue(): ByteQueue {
  let bytes = NOTHING;
  /** How many unused bytes follow them in memory. */
  let spare = 0;

  /** Doubles the memory, so that bytes that arrive one by one are not copied each time. */
  function grow(needed: number): void {
    const grown = new Uint8Array(2 * (bytes.length + needed));
    grown.set(bytes);
    spare = grown.length - bytes.length;
    bytes = grown.subarray(0, bytes.length);
  }

  return {
    bytes: () => bytes,
    put(more) {
      if (more.length === 0) return;
      if (bytes.length === 0) {
        bytes = more;
        spare = 0;
        return;
      }
      if (more.length > spare) grow(more.length);
      const all = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length + more.length);
      all.set(more, bytes.length);
      spare -= more.length;
      bytes = all;
    },
    drop(count) {
      bytes = count < bytes.length ? bytes.subarray(count) : NOTHING;
    },
    clear() {
      bytes = NOTHING;
    },
    take() {
      const all = bytes;
      bytes = NOTHING;
      return all;
    },
  };
}

/** Bytes in a row: more are put behind, and some taken from the front. What it costs grows with the bytes, not with how many at a time. */
export type ByteQueue = Readonly<{
  /** All of them. They stay as they are, whatever comes behind. */
  bytes(): Uint8Array;
  put(more: Uint8Array): void;
  drop(count: number): void;
  clear(): void;
  /** All of them, and begins again without any. */
  take(): Uint8Array;
}>;

const NOTHING: Uint8Array = new Uint8Array();

export function createByteQueue(): ByteQueue {
  let bytes = NOTHING;
  /** How many bytes behind them are nobody's. */
  let spare = 0;

  /** Makes room for as much again, so that bytes that come one by one are not copied with each of them. */
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

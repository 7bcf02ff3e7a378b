/** Bytes that come in pieces and are wanted in one. */
export type Gathered = Readonly<{
  /** Copies them behind those that are there. */
  add(bytes: Uint8Array): void;
  size(): number;
  /** All of them, and begins anew. They may be looked at until the next `add`. */
  take(): Uint8Array;
}>;

/** Grows by doubling, so that a sender who drips has each byte copied a few times only; to join the pieces one by one is quadratic work. */
export function createGathered(): Gathered {
  let memory = new Uint8Array(1024);
  let size = 0;
  return {
    add(bytes) {
      if (size + bytes.length > memory.length) {
        const larger = new Uint8Array(2 * (size + bytes.length));
        larger.set(memory.subarray(0, size));
        memory = larger;
      }
      memory.set(bytes, size);
      size += bytes.length;
    },
    size: () => size,
    take() {
      const all = memory.subarray(0, size);
      size = 0;
      return all;
    },
  };
}

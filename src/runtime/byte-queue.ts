const NOTHING: Uint8Array = new Uint8Array();

/** A queue of bytes: added at the end, taken from the front. Its cost grows with the bytes, not with the number of calls. */
export class ByteQueue {
  #memory = NOTHING;
  /** Where the bytes are in memory. */
  #start = 0;
  #end = 0;
  /** Whether this queue allocated the memory, so that it may write behind the bytes. */
  #isOwn = false;

  length(): number {
    return this.#end - this.#start;
  }

  /** All bytes. They do not change when more are added. */
  bytes(): Uint8Array {
    // Most heads arrive whole: they need no view, which is an allocation.
    return this.#start === 0 && this.#end === this.#memory.length ? this.#memory : this.#memory.subarray(this.#start, this.#end);
  }

  first(): number | undefined {
    return this.#memory[this.#start];
  }

  put(more: Uint8Array): void {
    if (more.length === 0) return;
    if (this.#start === this.#end) {
      this.#memory = more;
      this.#start = 0;
      this.#end = more.length;
      this.#isOwn = false;
      return;
    }
    if (!this.#isOwn || this.#end + more.length > this.#memory.length) this.#grow(more.length);
    this.#memory.set(more, this.#end);
    this.#end += more.length;
  }

  drop(count: number): void {
    this.#start += count;
    if (this.#start < this.#end) return;
    this.#memory = NOTHING;
    this.#start = this.#end = 0;
    this.#isOwn = false;
  }

  clear(): void {
    this.drop(this.length());
  }

  /** Removes bytes from the front, all by default, and returns them. */
  take(count = this.length()): Uint8Array {
    const taken = this.#memory.subarray(this.#start, this.#start + count);
    this.drop(count);
    return taken;
  }

  /** Doubles the memory, so that bytes that arrive one by one are not copied each time. */
  #grow(needed: number): void {
    const grown = new Uint8Array(2 * (this.length() + needed));
    grown.set(this.#memory.subarray(this.#start, this.#end));
    [this.#start, this.#end] = [0, this.length()];
    this.#memory = grown;
    this.#isOwn = true;
  }
}

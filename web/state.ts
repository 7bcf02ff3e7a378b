import { useLayoutEffect, useState } from "preact/hooks";

/** A value that changes, and tells those who watch it. */
export class State<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(initial: Value) {
    this.#value = initial;
  }

  get(): Value {
    return this.#value;
  }

  set(next: Value): void {
    if (Object.is(next, this.#value)) return;
    this.#value = next;
    for (const listener of this.#listeners) listener();
  }

  /** Returns what ends the watching. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The value now; the component is drawn again whenever it changes. */
export function useValue<Value>(state: State<Value>): Value {
  const [, redraw] = useState({});
  const drawn = state.get();
  useLayoutEffect(() => {
    // It may have changed between the drawing and here.
    if (!Object.is(drawn, state.get())) redraw({});
    return state.watch(() => redraw({}));
  }, [state]);
  return drawn;
}

import { useLayoutEffect, useState } from "preact/hooks";

/** A value that changes, and tells those who watch it. */
export type State<Value> = Readonly<{
  get: () => Value;
  set: (value: Value) => void;
  /** Returns what ends the watching. */
  watch: (listener: () => void) => () => void;
}>;

export function createState<Value>(initial: Value): State<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
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

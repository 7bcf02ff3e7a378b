import { useState } from "preact/hooks";
import { keepItem, tabStorage } from "./storage.ts";

/**
 * What begins the names of all that this page keeps in the browser. Another service may be under another path of the
 * same origin: it must get neither the token nor the undo of this one.
 */
export const KEPT_PREFIX = `plant-store-${new URL(".", location.href).pathname}-`;

export type Kept<Value> = Readonly<{
  value: Value;
  set: (value: Value) => void;
  /** Keeps it no longer; the component still has it. */
  forget: () => void;
  /** Begins again with this value, of which nothing is kept. */
  reset: (value: Value) => void;
  /** Whether it was kept from before, and not forgotten. */
  isBack: boolean;
}>;

/** What the browser has no room for: it outlives its component, but not a reload. */
const tooLarge = new Map<string, string>();

/**
 * A state of what people type, that outlives its component, a reload and a new sign-in in this tab. `Value` is what
 * JSON can hold.
 */
export function useKept<Value>(name: string, initial: () => Value): Kept<Value> {
  const key = keyOf(name);
  const [before] = useState(() => tooLarge.get(key) ?? tabStorage().getItem(key));
  const [isBack, setBack] = useState(before !== null);
  const [value, setValue] = useState<Value>(() => (before === null ? initial() : (JSON.parse(before) as Value)));
  function forget(): void {
    forgetTyped(name);
    setBack(false);
  }
  return {
    value,
    set(next) {
      setValue(next);
      forgetTyped(name);
      const text = JSON.stringify(next);
      if (!keepItem(tabStorage(), key, text)) tooLarge.set(key, text);
    },
    forget,
    reset(next) {
      setValue(next);
      forget();
    },
    isBack,
  };
}

export function forgetTyped(name: string): void {
  tooLarge.delete(keyOf(name));
  tabStorage().removeItem(keyOf(name));
}

export function forgetAllKept(storage: Storage): void {
  tooLarge.clear();
  const names = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "");
  for (const name of names.filter((one) => one.startsWith(KEPT_PREFIX))) storage.removeItem(name);
}

function keyOf(name: string): string {
  return `${KEPT_PREFIX}typed-${name}`;
}

/** The other tabs of this browser that show the same service. */
export type Tabs = Readonly<{
  /** Tells them that plants have changed. */
  tell: () => void;
  /** Calls `onChange` when another tab has told so. Returns what ends it. */
  watch: (onChange: () => void) => () => void;
}>;

/** What is told says nothing about the plants: another tab may have a token that does not allow to see them. */
const CHANGED = "changed";

export function openTabs(base: string): Tabs {
  const channel = new BroadcastChannel(`plant-store ${base}`);
  return {
    tell: () => channel.postMessage(CHANGED),
    watch(onChange) {
      channel.addEventListener("message", onChange);
      return () => channel.removeEventListener("message", onChange);
    },
  };
}

/** The other tabs of this browser that show the same service. */
export type Tabs = Readonly<{
  tell: () => void;
  /** Calls `onChange` when another tab has told so. Returns what ends it. */
  watch: (onChange: () => void) => () => void;
}>;

/** A browser that keeps nothing for pages may have no channel between its tabs either: then they do not hear of each other. */
export function openTabs(base: string): Tabs {
  try {
    return toTabs(new BroadcastChannel(`plant-store ${base}`));
  } catch {
    return { tell: () => undefined, watch: () => () => undefined };
  }
}

/** What is told says nothing about the plants: another tab may have a token that does not allow to see them. */
const CHANGED = "changed";

function toTabs(channel: BroadcastChannel): Tabs {
  return {
    tell: () => channel.postMessage(CHANGED),
    watch(onChange) {
      channel.addEventListener("message", onChange);
      return () => channel.removeEventListener("message", onChange);
    },
  };
}

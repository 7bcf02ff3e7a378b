import { KEPT_PREFIX } from "./kept.ts";
import { keepItem } from "./storage.ts";

/**
 * How far each view was scrolled, in pixels below the first row: what is above the rows may be higher when they come
 * again. As long as the tab is open, also after a reload. Undefined is the top of the page.
 */
export type Positions = Readonly<{
  find: (view: string) => number | undefined;
  keep: (view: string, px: number | undefined) => void;
  save: () => void;
}>;

/** Not that of the version before, which counted from the top of the page: a tab may be older than its page. */
const KEY = `${KEPT_PREFIX}rows`;
const KEPT_MAX = 100;

export function createPositions(storage: Storage): Positions {
  const positions = new Map(JSON.parse(storage.getItem(KEY) ?? "[]") as readonly (readonly [string, number])[]);
  return {
    find: (view) => positions.get(view),
    keep(view, px) {
      // The latest is the last.
      positions.delete(view);
      if (px !== undefined) positions.set(view, px);
      const [oldest] = positions.keys();
      if (positions.size > KEPT_MAX && oldest !== undefined) positions.delete(oldest);
    },
    save() {
      if (positions.size === 0) storage.removeItem(KEY);
      else keepItem(storage, KEY, JSON.stringify([...positions]));
    },
  };
}

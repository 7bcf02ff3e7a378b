import { KEPT_PREFIX } from "./kept.ts";
import { keepItem } from "./storage.ts";

/** How far each view was scrolled, in pixels: as long as the tab is open, also after a reload. */
export type Positions = Readonly<{ find: (view: string) => number; keep: (view: string, px: number) => void; save: () => void }>;

const KEY = `${KEPT_PREFIX}positions`;
const KEPT_MAX = 100;

export function createPositions(storage: Storage): Positions {
  const positions = new Map(JSON.parse(storage.getItem(KEY) ?? "[]") as readonly (readonly [string, number])[]);
  return {
    find: (view) => positions.get(view) ?? 0,
    keep(view, px) {
      // The latest is the last.
      positions.delete(view);
      if (px > 0) positions.set(view, px);
      const [oldest] = positions.keys();
      if (positions.size > KEPT_MAX && oldest !== undefined) positions.delete(oldest);
    },
    save() {
      if (positions.size === 0) storage.removeItem(KEY);
      else keepItem(storage, KEY, JSON.stringify([...positions]));
    },
  };
}

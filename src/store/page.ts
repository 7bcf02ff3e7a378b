import type { NewPlant } from "../plant.ts";

/** What was found; `isLast` when there is nothing more behind it. */
export type Page = Readonly<{ plants: readonly NewPlant[]; isLast: boolean }>;

/** A page that is being filled. */
export type OpenPage = Readonly<{
  /** Takes the next plant. False when the page was full before: then there is one more behind it, and nothing else is to be read. */
  take(plant: NewPlant, bytes?: number): boolean;
  /** The page, once all that there is has been offered, or one has not been taken. */
  close(): Page;
}>;

/** Opens a page that is full with so many plants, or with the one with which they have so many bytes. */
export function openPage({ limit, bytesMax }: Readonly<{ limit: number; bytesMax: number }>): OpenPage {
  const plants: NewPlant[] = [];
  let bytes = 0;
  let isLast = true;
  return {
    take(plant, size = sizeOf(plant)) {
      isLast = plants.length < limit && bytes < bytesMax;
      if (!isLast) return false;
      plants.push(plant);
      bytes += size;
      return true;
    },
    close: () => ({ plants, isLast }),
  };
}

/** What the text of a plant takes as UTF-8. */
export function sizeOf({ name, tag }: Readonly<{ name: string; tag?: string | null }>): number {
  return Buffer.byteLength(name) + Buffer.byteLength(tag ?? "");
}

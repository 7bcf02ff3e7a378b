import type { NewPlant } from "../plant.ts";

/** A page of a list. `isLast`: no plants follow. */
export type Page = Readonly<{ plants: readonly NewPlant[]; isLast: boolean }>;

/** A page that is being filled. */
export type OpenPage = Readonly<{
  /** Adds the next plant. False when the page was full already: another page follows, and reading can stop. */
  add(plant: NewPlant, bytes?: number): boolean;
  /** The page. Call this when all plants have been offered, or one was not added. */
  close(): Page;
}>;

/** Opens a page. It is full at `limit` plants, or with the plant that brings it to `bytesMax` bytes. */
export function openPage({ limit, bytesMax }: Readonly<{ limit: number; bytesMax: number }>): OpenPage {
  const plants: NewPlant[] = [];
  let bytes = 0;
  let isLast = true;
  return {
    add(plant, size = sizeOf(plant)) {
      isLast = plants.length < limit && bytes < bytesMax;
      if (!isLast) return false;
      plants.push(plant);
      bytes += size;
      return true;
    },
    close: () => ({ plants, isLast }),
  };
}

/** The bytes of a plant's text in UTF-8. */
export function sizeOf({ name, tag }: Readonly<{ name: string; tag?: string | null }>): number {
  return Buffer.byteLength(name) + Buffer.byteLength(tag ?? "");
}

import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../domain/plant.ts";
import type { NewPlant, PlantId } from "../domain/plant.ts";

/** A page of a list. `isLast`: no plants follow. */
export type Page = Readonly<{ plants: readonly NewPlant[]; isLast: boolean }>;

/** What plants are ordered by: their `nameKey`, or the time of the create. Equal ones are by id, in the same direction. */
export type Sorting = Readonly<{ by: "name" | "time"; ascending: boolean }>;

export const ORDERS = {
  name: { by: "name", ascending: true },
  "-name": { by: "name", ascending: false },
  newest: { by: "time", ascending: false },
  oldest: { by: "time", ascending: true },
} as const satisfies Record<string, Sorting>;

export type Order = keyof typeof ORDERS;

/** A place in an order: that of a plant with this id. `key` is a `nameKey`, or the time of the create, an int64. */
export type Place = Readonly<{ key: string; id: PlantId }>;

/**
 * Plants with their places. `next`: the next page is behind this place; undefined when no plants follow. A page may have
 * few plants, or none, although others follow: the work for a page is bounded.
 */
export type OrderedPage = Readonly<{ plants: readonly NewPlant[]; places: readonly Place[]; next: Place | undefined }>;

/** The first id of a list by id that begins behind an id, or with the first plant. Undefined where there can be none. */
export function idBehind({
  after,
  descending = false,
}: Readonly<{ after: PlantId | undefined; descending?: boolean }>): PlantId | undefined {
  const [first, last] = descending ? [PLANT_ID_MAX, PLANT_ID_MIN] : [PLANT_ID_MIN, PLANT_ID_MAX];
  if (after === undefined) return first;
  return after === last ? undefined : asPlantId(descending ? after - 1n : after + 1n);
}

/** Opens a page. It is full at `limit` plants, or with the plant that brings it to `bytesMax` bytes. */
export function openPage({ limit, bytesMax }: Readonly<{ limit: number; bytesMax: number }>) {
  const plants: NewPlant[] = [];
  let bytes = 0;
  let isLast = true;
  return {
    /** Adds the next plant. False when the page was full already: another page follows, and reading can stop. */
    add(plant: NewPlant, size = sizeOf(plant)): boolean {
      isLast = plants.length < limit && bytes < bytesMax;
      if (!isLast) return false;
      plants.push(plant);
      bytes += size;
      return true;
    },
    /** Ends the page behind the last plant that was added, although others may follow. */
    cut: () => void (isLast = false),
    /** The page. Call this when all plants have been offered, or one was not added. */
    close: (): Page => ({ plants, isLast }),
  };
}

/** The same in an order. */
export function openOrderedPage(limits: Readonly<{ limit: number; bytesMax: number }>) {
  const page = openPage(limits);
  const places: Place[] = [];
  return {
    add(plant: NewPlant, place: Place, bytes?: number): boolean {
      const isAdded = page.add(plant, bytes);
      if (isAdded) places.push(place);
      return isAdded;
    },
    cut: page.cut,
    /** The page. `reached`: the place up to which plants were offered, if others follow there. */
    close(reached: Place | undefined): OrderedPage {
      const { plants, isLast } = page.close();
      return { plants, places, next: isLast ? reached : places.at(-1) };
    },
  };
}

/** The bytes of a plant's text in UTF-8. */
export function sizeOf({ name, tag }: Readonly<{ name: string; tag?: string | null }>): number {
  return Buffer.byteLength(name) + Buffer.byteLength(tag ?? "");
}

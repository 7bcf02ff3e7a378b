import { checkSize } from "../domain/plant-size.ts";
import { parsePlant } from "../domain/validation.ts";
import type { ReadOptions } from "./row.ts";

/**
 * The rest of a line: the id, the names of the fields, and what stands around them.
 *
 * @limit files: bytes of a line of an import, besides twice the largest body
 */
const REST_BYTES = 100;

/**
 * What a file may hold, for plants of so many bytes. A line may be twice as long, because a name of quotes takes twice
 * its bytes: whatever is stored, an export of it can be imported.
 */
export function fileLimits(plantBytesMax: number): Pick<ReadOptions, "parsePlant" | "lineBytesMax"> {
  return {
    lineBytesMax: 2 * plantBytesMax + REST_BYTES,
    parsePlant(value) {
      const plant = parsePlant(value);
      checkSize(plant, plantBytesMax);
      return plant;
    },
  };
}

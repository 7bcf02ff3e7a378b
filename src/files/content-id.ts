import { sha256 } from "@noble/hashes/sha2.js";
import { asPlantId } from "../domain/plant.ts";
import type { PlantId } from "../domain/plant.ts";

/** Fifteen digits: spreadsheets and programs that read numbers as doubles keep them exactly. */
const IDS = 999_999_999_999_999n;

const utf8 = new TextEncoder();

/**
 * The id of a row that has none: from 1 to 999999999999999, by the SHA-256 of its text in UTF-8. It is the same
 * wherever and whenever the row is read, and must never change: otherwise a file that is imported again is duplicated.
 */
export function toContentId(text: string): PlantId {
  // A browser's own hash is asynchronous, which takes ten times as long as the rest of the row.
  const { buffer, byteOffset } = sha256(utf8.encode(text));
  return asPlantId((new DataView(buffer, byteOffset).getBigUint64(0) % IDS) + 1n);
}

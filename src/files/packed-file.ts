import { PlantStoreError } from "../domain/errors.ts";

/**
 * What a file may grow to: so many bytes for each byte of gzip, once it is long. Tables reach 5 to 50, gzip itself
 * ends at 1,032.
 *
 * @limit files: times its size that a compressed file may grow to
 */
const RATIO_MAX = 250;
/** @limit files: size up to which it may grow anyway */
const LONG_BYTES = 10_000_000;

/** The first bytes of gzip (RFC 1952, 2.3.1). */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** Throws `body_too_large` if so many bytes may not come out of so few. */
export function checkGrowth(size: number, packed: number): void {
  if (size <= LONG_BYTES || size <= packed * RATIO_MAX) return;
  throw new PlantStoreError("body_too_large", {
    message: `The compressed file grows to more than ${RATIO_MAX} times its size: send it uncompressed, a workbook as CSV.`,
  });
}

import { invalidQuery } from "../domain/errors.ts";
import type { PlantStoreError } from "../domain/errors.ts";
import { asPlantId } from "../domain/plant.ts";
import { ORDERS } from "../store/page.ts";
import type { Order, Place } from "../store/page.ts";

/** The first byte of a cursor. When keys of an order change, it gets another number: 1 and 3 were of names with their leading signs. */
const KINDS = { name: 5, newest: 2, "-name": 6, oldest: 4 } as const satisfies Record<Order, number>;

const HEAD_BYTES = 9;
const INT64_BYTES = 8;

/** A place as text for the link to the next page: its kind, id and key, as bytes in base64url. */
export function toCursor(order: Order, { key, id }: Place): string {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = KINDS[order];
  head.writeBigInt64BE(id, 1);
  return Buffer.concat([head, toBytes(order, key)]).toString("base64url");
}

/** Throws `invalid_query` for a text that `toCursor` cannot have made for this order. A client that makes one up reads on from there. */
export function parseCursor(order: Order, text: string): Place {
  const bytes = Buffer.from(text, "base64url");
  const key = bytes.subarray(HEAD_BYTES);
  const isName = ORDERS[order].by === "name";
  const isWhole = bytes.length >= HEAD_BYTES && (isName || key.length === INT64_BYTES);
  // What is no base64url is left out when it is decoded.
  if (!isWhole || bytes[0] !== KINDS[order] || bytes.toString("base64url") !== text) throw unknownCursor();
  return { key: isName ? key.toString("hex") : String(key.readBigInt64BE()), id: asPlantId(bytes.readBigInt64BE(1)) };
}

function toBytes(order: Order, key: string): Buffer {
  if (ORDERS[order].by === "name") return Buffer.from(key, "hex");
  const bytes = Buffer.alloc(INT64_BYTES);
  bytes.writeBigInt64BE(BigInt(key));
  return bytes;
}

export function unknownCursor(): PlantStoreError {
  return invalidQuery("The query parameter `cursor` is not from a `Link` of this list: leave it out to begin at the first page.");
}

/** The parameters of a query. What is undefined is left out. */
export type LinkQuery = Readonly<Record<string, bigint | boolean | number | string | undefined>>;

/** The header that leads to another page of the same list, relative to the request target (RFC 8288, 3.1). */
export function linkTo(query: LinkQuery): Readonly<{ link: string }> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return { link: `<?${given.join("&")}>; rel="next"` };
}

import { hash } from "node:crypto";
import { invalidQuery } from "../domain/errors.ts";
import type { PlantStoreError } from "../domain/errors.ts";
import { asPlantId } from "../domain/plant.ts";
import type { LogCursor } from "../store/history.ts";
import { parseLogCursor } from "../store/log-cursor.ts";
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

/** What a cursor of the past begins with: a hash of its list, so that no other list takes it. */
const LIST_BYTES = 8;

/** A place in the log for the link to the next page of the list of past changes with this name. */
export function toPastCursor({ list, place }: Readonly<{ list: string; place: LogCursor }>): string {
  const mark = hash("sha256", list, "buffer").subarray(0, LIST_BYTES);
  return Buffer.concat([mark, Buffer.from(place, "base64url")]).toString("base64url");
}

/** Throws `invalid_query` for a text that `toPastCursor` cannot have made for this list. Whether the log has that place shows when it is read. */
export function parsePastCursor({ list, text }: Readonly<{ list: string; text: string }>): LogCursor {
  const place = Buffer.from(text, "base64url").subarray(LIST_BYTES).toString("base64url");
  if (!parseLogCursor(place) || toPastCursor({ list, place }) !== text) throw unknownCursor();
  return place;
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

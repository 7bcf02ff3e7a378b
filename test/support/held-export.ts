import { once } from "node:events";
import { openSocket, receiveAll, toRequest } from "./raw-http.ts";

/** Plants that are far more than buffers hold, so that most of an export is read after its beginning was. */
export const PLANTS = 400;
const NAME_LENGTH = 60_000;

/** Nothing of it is as in another version: SQLite writes only the pages of a row that differ. */
export function largeName(id: number, version: string): string {
  return `${id} ${version} `.padEnd(NAME_LENGTH, version);
}

/** All of them in their first version, as NDJSON. */
export function largePlants(): string {
  return Array.from({ length: PLANTS }, (_, id) => `{"id":${id},"name":"${largeName(id, "old")}"}\n`).join("");
}

/** What was read of an export: how many plants, the last two of them, and whether it came to its end. */
type Exported = Readonly<{ count: number; last: readonly (string | undefined)[]; isWhole: boolean }>;

/** Begins an export and reads nothing. Call the result to read all of it. */
export async function holdExport({ url, token }: Readonly<{ url: string; token: string }>): Promise<() => Promise<Exported>> {
  const socket = await openSocket(url);
  socket.write(toRequest("GET /plants/export", { token, fields: ["Connection: close"] }));
  await once(socket, "readable");
  return async () => {
    const text = await receiveAll(socket);
    const names = Array.from(text.matchAll(/"name":"(\d+ \w+)/g), ([, name]) => name);
    return { count: names.length, last: names.slice(-2), isWhole: text.endsWith("0\r\n\r\n") };
  };
}

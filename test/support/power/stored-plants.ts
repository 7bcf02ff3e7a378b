import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { readToken } from "../service.ts";
import { waitMsMax } from "../until.ts";
import { textOf } from "./journal.ts";
import type { Content, Plants } from "./journal.ts";

/** The word in all names. */
export const WORD = "oak";

const PAGE = 1000;

/** The plants in the files of a folder, after whatever SQLite recovers. Throws when they are damaged. */
export function readPlants(folder: string): Plants {
  const db = new DatabaseSync(join(folder, "plants.db"));
  try {
    // Nothing here has to be durable.
    db.exec("PRAGMA synchronous = OFF");
    const check = db.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
    if (check !== "ok") throw new Error(String(check));
    // Before the first start is complete there may not even be a table.
    if (!db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'plants'").get()) return new Map();
    const rows = db.prepare("SELECT id, name, tag FROM plants").all() as { id: number; name: string; tag: string | null }[];
    return new Map(rows.map(({ id, name, tag }) => [id, textOf({ name, ...(tag === null ? {} : { tag }) })]));
  } finally {
    db.close();
  }
}

/** The plants that a running service returns. Throws if a search for the word in all names does not find as many. */
export async function readServed({ url, data }: Readonly<{ url: string; data: string }>): Promise<Plants> {
  const headers = { authorization: `Bearer ${await readToken(data)}` };
  const text = await (await fetch(`${url}/plants/export`, { headers })).text();
  const lines = text.split("\n").filter((line) => line !== "");
  const plants = lines.map((line) => JSON.parse(line) as Content & { id: number });
  const deadline = performance.now() + waitMsMax();
  for (let found = -1; found !== plants.length; await Bun.sleep(20)) {
    if (performance.now() > deadline) throw new Error(`The search found ${found} of ${plants.length} plants.`);
    found = await countFound(url, headers);
  }
  return new Map(plants.map(({ id, ...content }) => [id, textOf(content)]));
}

/** How many plants the search finds; -1 as long as there is no search. */
async function countFound(url: string, headers: Record<string, string>): Promise<number> {
  let count = 0;
  for (let page: URL | undefined = new URL(`${url}/plants?q=${WORD}&limit=${PAGE}`); page !== undefined;) {
    const response: Response = await fetch(page, { headers });
    if (response.status === 503) return -1;
    count += ((await response.json()) as unknown[]).length;
    const next = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    page = next === undefined ? undefined : new URL(next, page);
  }
  return count;
}

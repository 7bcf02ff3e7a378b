import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { readToken } from "../service.ts";
import { waitMsMax } from "../until.ts";

/** A plant without its id. */
export type Content = Readonly<{ name: string; tag?: string }>;

/** Plants by id, as text that is equal if the plants are; undefined for deleted plants and for deletes. */
export type Plants = ReadonlyMap<number, string | undefined>;

/**
 * The attempts of a client to change a plant. They follow each other: the next begins when the one before is answered.
 */
type Try = { content: string | undefined; answered: number; isMade: boolean };

/**
 * What clients tried, and the responses. An attempt without a response, or with a failure as response, may still have
 * been executed.
 */
export function openJournal() {
  const triesOf = new Map<number, Try[]>();
  const requests: Try[][] = [];

  /** What a plant may be at a moment: the result of the last response 2xx, or of any later attempt. */
  function allowed(tries: readonly Try[], moment: number): ReadonlySet<string | undefined> {
    const sure = tries.findLastIndex(({ isMade, answered }) => isMade && answered <= moment);
    const open = tries.findIndex(({ answered }) => answered > moment);
    const later = tries.slice(sure + 1, open === -1 ? undefined : open + 1);
    return new Set([tries[sure]?.content, ...later.map(({ content }) => content)]);
  }

  return {
    /** Records what a request is meant to change; returns the name of the request. */
    begin(plants: Plants): string {
      const tries = Array.from(plants, ([id, content]) => {
        const one: Try = { content, answered: Infinity, isMade: false };
        triesOf.set(id, [...(triesOf.get(id) ?? []), one]);
        return one;
      });
      requests.push(tries);
      return `try-${requests.length}`;
    },
    /** Records a response and its moment. */
    answer({ request, status, moment }: Readonly<{ request: string; status: number; moment: number }>): void {
      const isMade = status === 200 || status === 204;
      for (const one of requests[Number(request.replace("try-", "")) - 1] ?? []) Object.assign(one, { answered: moment, isMade });
    },
    /** Records what was read at a moment: an attempt without a response that shows there has been made, and must stay so. */
    see(stored: Plants, moment: number): void {
      for (const [id, tries] of triesOf) {
        const sure = tries.findLastIndex(({ isMade }) => isMade);
        if (tries[sure]?.content === stored.get(id)) continue;
        const seen = tries.find(({ content }, at) => at > sure && content === stored.get(id));
        if (seen) Object.assign(seen, { answered: moment, isMade: true });
      }
    },
    /** How many requests were answered 2xx. */
    made: (): number => requests.filter((tries) => tries.some(({ isMade }) => isMade)).length,
    ids: (): number[] => [...triesOf.keys()],
    /** What is wrong with the stored plants, if at that moment they are all that is stored. */
    findFaults(stored: Plants, moment: number): string[] {
      const wrong = Array.from(triesOf).flatMap(([id, tries]) => {
        const may = allowed(tries, moment);
        return may.has(stored.get(id)) ? [] : [`${id} is ${stored.get(id)} instead of ${[...may].join(" or ")}`];
      });
      return [
        ...wrong,
        ...Array.from(stored.keys())
          .filter((id) => !triesOf.has(id))
          .map((id) => `${id} is there, but was never created`),
      ];
    },
  };
}

export type Journal = ReturnType<typeof openJournal>;

export function textOf({ name, tag }: Content): string {
  return JSON.stringify([name, tag ?? null]);
}

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

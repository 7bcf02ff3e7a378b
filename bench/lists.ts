import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../src/client/client.ts";
import type { Client, Sort } from "../src/client/client.ts";
import { toCursor } from "../src/http/cursor.ts";
import { nameKey } from "../src/domain/name-order.ts";
import { asPlantId } from "../src/domain/plant.ts";
import { ORDERS } from "../src/store/page.ts";
import { openPostgresCollection, openSqliteCollection } from "./collection.ts";
import type { Collection } from "./collection.ts";
import { leaveProgramCore, takeBothCores } from "./machine.ts";
import { LAST_COUNT, LAST_WORD, plantOf, TAGS } from "./plant-names.ts";
import { withServer } from "./plant-store.ts";
import { median } from "./quantile.ts";
import { withFolder } from "./scratch.ts";
import { sizesOf } from "./stock.ts";
import { toQuartiles, toTable, toText } from "./text-table.ts";
import type { Bench } from "./trade-offs.ts";

/** Where a page begins. `middle`: behind any plant. `last`: so that LAST_COUNT plants are left without a filter. */
type PlaceName = "first" | "middle" | "last";

const PLACES = {
  id: ["first", "middle", "last"],
  "-id": ["first", "middle"],
  name: ["first", "middle", "last"],
  "-name": ["first", "middle"],
  newest: ["first", "middle", "last"],
  oldest: ["first", "middle"],
} as const satisfies Record<Sort, readonly PlaceName[]>;

/** What selects plants, as a query. */
const FILTERS = {
  all: "",
  "tag, 30 %": `&tag=${TAGS.ofThird}`,
  "tag, 1 %": `&tag=${TAGS.ofHundredth}`,
  "tag, one plant": `&tag=${TAGS.ofOne}`,
  "untagged, 20 %": "&untagged=true",
  "q, 12 %": "&q=abies",
  "q, 50 plants": `&q=${LAST_WORD}`,
  "q and tag": `&q=abies&tag=${TAGS.ofThird}`,
} as const;

/** A plant in the middle of a store, as the places of a page need it. */
type Behind = Readonly<{ id: number; name: string; added: bigint }>;

/** One kind of request: its path for a plant in the middle, and for one near the end. */
type Question = Readonly<{ name: string; pathOf: (middle: Behind, last: Behind) => string }>;

const LIMIT = 100;
const REQUESTS = 7;
const MIDDLES = 200;
const OVERLOADED = 503;

const LISTS: readonly Question[] = (Object.keys(PLACES) as Sort[]).flatMap((sort) =>
  Object.entries(FILTERS).flatMap(([filter, query]) =>
    PLACES[sort].map((place) => ({
      name: `sort=${sort}, ${filter}, ${place}`,
      pathOf: (middle, last) => `/plants?limit=${LIMIT}&sort=${sort}${query}${placeOf(sort, place, { middle, last })}`,
    })),
  ),
);
const COUNTS: readonly Question[] = Object.entries(FILTERS).flatMap(([filter, query]) =>
  ["/plants/count", "/tags"].map((path) => ({ name: `${path}, ${filter}`, pathOf: () => `${path}?${query.slice(1)}` })),
);

const QUESTIONS = [...LISTS, ...COUNTS];

/** Lists in each order and counts, with and without filters, on both engines and in stores of all sizes. */
export async function lists(bench: Bench): Promise<string> {
  if (bench.stock !== undefined) return measureAll(bench.stock, bench);
  return withFolder(async (folder) => {
    // Root's PostgreSQL runs as another user, and has its folder in this one.
    await chmod(folder, 0o711);
    return measureAll(folder, bench);
  });
}

async function measureAll(stock: string, bench: Bench): Promise<string> {
  await takeBothCores();
  const reports: string[] = [];
  try {
    const folderOf = (engine: string, plants: number) => join(stock, `${engine}-${plants}`);
    const inFiles: Collection[] = [];
    for (const plants of sizesOf(bench)) inFiles.push(await openSqliteCollection({ folder: folderOf("sqlite", plants), plants, bench }));
    reports.push(`SQLite\n\n${await compareCollections(inFiles, bench)}`);
    await withServer(
      async (server) => {
        const inServer: Collection[] = [];
        for (const plants of sizesOf(bench))
          inServer.push(await openPostgresCollection(server, { folder: folderOf("postgres", plants), plants, bench }));
        reports.push(`${server.name}\n\n${await compareCollections(inServer, bench)}`);
      },
      { folder: join(stock, "postgres") },
    );
  } finally {
    await leaveProgramCore();
  }
  return `Time of one request in ms, one at a time: median [quartiles] of ${bench.rounds} rounds of ${REQUESTS}; in brackets the median
ratio to the smallest store within a round

${reports.join("\n\n")}`;
}

type Asking = Readonly<{ url: string; token: string; middles: readonly Behind[]; last: Behind }>;
/** By the number of plants: the times of each round. */
type Times = Map<number, number[][]>;

async function compareCollections(collections: readonly Collection[], bench: Bench): Promise<string> {
  const targets = await Promise.all(collections.map(async (collection) => ({ collection, ...(await collection.start()) })));
  try {
    const askings = new Map<number, Asking>();
    for (const { collection, program, token } of targets) {
      await waitForIndexes({ url: program.url, token, bench });
      askings.set(collection.plants, { url: program.url, token, ...(await findPlaces(collection)) });
    }
    const times = new Map<string, Times>(QUESTIONS.map(({ name }) => [name, new Map()]));
    // The first round warms up.
    for (let round = 0; round <= bench.rounds; round += 1) {
      for (const question of QUESTIONS) {
        for (const [plants, asking] of askings) {
          const taken = await timesOf(question, asking);
          const of = times.get(question.name)!;
          if (round > 0) of.set(plants, [...(of.get(plants) ?? []), taken]);
        }
      }
      bench.note(`lists: round ${round} of ${bench.rounds}`);
    }
    const sizes = [...askings.keys()];
    const rows = QUESTIONS.map(({ name }) => [name, ...sizes.map((plants) => toCell(times.get(name)!, { plants, smallest: sizes[0]! }))]);
    return toTable([["request", ...sizes.map((plants) => `${toText(plants)} plants`)], ...rows]);
  } finally {
    await Promise.all(targets.map(({ program }) => program.stop()));
  }
}

function toCell(times: Times, { plants, smallest }: { plants: number; smallest: number }): string {
  const rounds = times.get(plants)!;
  const figure = toQuartiles(rounds.flat(), 2);
  if (plants === smallest) return figure;
  const ratios = rounds.map((round, at) => median(round) / median(times.get(smallest)![at]!));
  return `${figure} (${toText(median(ratios), 2)})`;
}

async function timesOf({ pathOf }: Question, { url, token, middles, last }: Asking): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < REQUESTS; number += 1) {
    const path = pathOf(middles[Math.trunc(Math.random() * middles.length)]!, last);
    const begun = performance.now();
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    const body = await response.text();
    times.push(performance.now() - begun);
    // What takes too long is refused after 5 s: that time counts, too.
    if (!response.ok && response.status !== OVERLOADED)
      throw new Error(`${path} was answered ${response.status} with ${body.slice(0, 200)}`);
  }
  return times;
}

function placeOf(sort: Sort, place: PlaceName, { middle, last }: Readonly<Record<"middle" | "last", Behind>>): string {
  if (place === "first") return "";
  const { id, name, added } = place === "middle" ? middle : last;
  if (sort === "id" || sort === "-id") return `&after=${place === "last" ? id - 2 * LAST_COUNT : id}`;
  const { by } = ORDERS[sort];
  const key = by === "name" ? (place === "last" ? nameKey(LAST_WORD) : nameKey(name)) : String(added);
  return `&cursor=${toCursor(sort, { key, id: asPlantId(BigInt(id)) })}`;
}

/** Random plants for the middle. For the last page by newest, the one that has LAST_COUNT plants behind it. */
async function findPlaces({ plants, addedOf }: Collection): Promise<Pick<Asking, "middles" | "last">> {
  const ids = Array.from({ length: MIDDLES }, () => 1 + Math.trunc(Math.random() * plants));
  const added = await addedOf([...ids, LAST_COUNT]);
  const behind = (id: number) => ({ id, name: plantOf(id, { plants }).name, added: added.get(id)! });
  return { middles: ids.map(behind), last: behind(LAST_COUNT) };
}

/** Lists in order and counts of tags get 503 until then, and searches miss what the index still lacks of an import. */
async function waitForIndexes({ url, token, bench }: Pick<Asking, "url" | "token"> & { bench: Bench }): Promise<void> {
  const client = createClient({ url, token, retries: 0 });
  for (let isWhole = false; !isWhole; await sleep(500, undefined, { signal: bench.signal }))
    isWhole = await isIndexed(client).catch(() => false);
  bench.note("lists: the indexes are whole");
}

async function isIndexed(client: Client): Promise<boolean> {
  await client.page({ sort: "name", limit: 1 });
  await client.tags();
  return (await client.count({ q: LAST_WORD })).precision === "exact";
}

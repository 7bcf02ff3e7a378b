import type { Target } from "./contenders.ts";
import { median } from "./quantile.ts";
import type { Bench } from "./trade-offs.ts";
import { COMMON_WORD, RARE_WORD } from "./stock.ts";
import { toTable, toText } from "./text-table.ts";

/** Where the operations look: a different place each time. */
type At = Readonly<{ plants: number; id: number }>;

const OPERATIONS = {
  "read by id": ({ id }) => `/plants/${id}`,
  "page of 100": ({ id, plants }) => `/plants?limit=100&after=${Math.min(id, plants - 200)}`,
  "page of 100 by tag": ({ id, plants }) => `/plants?limit=100&tag=tag%20${id % 50}&after=${Math.trunc(Math.max(0, id - plants / 2 - 1))}`,
  "search of a rare word": () => `/plants?limit=100&q=${RARE_WORD}`,
  "search of a word that all have": ({ id, plants }) => `/plants?limit=100&q=${COMMON_WORD}&after=${Math.min(id, plants - 200)}`,
  "search of a beginning that all have": ({ id, plants }) => `/plants?limit=100&q=p&after=${Math.min(id, plants - 200)}`,
} as const satisfies Record<string, (at: At) => string>;

type OperationName = keyof typeof OPERATIONS;

const NAMES = Object.keys(OPERATIONS) as OperationName[];
const ROUNDS = 7;
const REQUESTS = 200;

/**
 * The time of each operation on stores of all sizes in turns, one request at a time. `start` starts the service on the
 * store with this many plants.
 */
export async function compareSizes(
  sizes: readonly number[],
  start: (plants: number) => Promise<Target>,
  { note }: Pick<Bench, "note">,
): Promise<string> {
  const medians = new Map<string, number[]>();
  const targets = await Promise.all(sizes.map(async (plants) => ({ plants, ...(await start(plants)) })));
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const name of NAMES) {
        for (const { plants, program, token } of targets) {
          const time = await medianMs({ name, plants, url: program.url, token });
          // The first round warms up.
          if (round > 0) medians.set(`${name} ${plants}`, [...(medians.get(`${name} ${plants}`) ?? []), time]);
        }
      }
      note(`operations: round ${round} of ${ROUNDS}`);
    }
  } finally {
    await Promise.all(targets.map(({ program }) => program.stop()));
  }
  const rows = NAMES.map((name) => {
    const [small = Number.NaN, ...larger] = sizes.map((plants) => median(medians.get(`${name} ${plants}`) ?? []));
    return [name, toText(small, 2), ...larger.map((time) => `${toText(time, 2)} (${toText(time / small, 2)})`)];
  });
  return `Time of one request in ms, and to the smallest store: median of ${ROUNDS} rounds of ${REQUESTS} requests, one at a time

${toTable([["operation", ...sizes.map((plants) => `${toText(plants)} plants`)], ...rows])}`;
}

type Asked = Readonly<{ name: OperationName; plants: number; url: string; token: string }>;

async function medianMs({ name, plants, url, token }: Asked): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < REQUESTS; number += 1) {
    const path = OPERATIONS[name]({ plants, id: 1 + Math.trunc(Math.random() * plants) });
    const begun = performance.now();
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    const body = (await response.json()) as unknown[] | { id: number };
    times.push(performance.now() - begun);
    const isWhole = Array.isArray(body) ? body.length === (name === "search of a rare word" ? 1 : 100) : body.id > 0;
    if (!response.ok || !isWhole) throw new Error(`${path} was answered ${response.status} with ${JSON.stringify(body).slice(0, 200)}`);
  }
  return median(times);
}

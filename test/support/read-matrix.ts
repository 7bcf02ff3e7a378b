import { gzipSync } from "node:zlib";
import { until } from "./until.ts";

/** A request to a service. */
export type Ask = (path: string, init?: Omit<RequestInit, "headers"> & { headers?: Record<string, string> }) => Promise<Response>;

type Plant = Readonly<{ id: number; name: string; tag?: string }>;

/** A plant, and the write that created it: those of one write are by id from the greatest in the order by newest. */
type Held = Plant & Readonly<{ write: number }>;

type Model = Map<number, Held>;

/** What the next write is about: its number, and a plant that earlier writes have left. */
type Turn = Readonly<{ at: number; model: Model; put: (plant: Plant) => void; remove: (id: number) => void }>;

/** Sends a write, takes it over into the model, and returns the ids that it is about. */
type Write = (ask: Ask, turn: Turn) => Promise<readonly number[]>;

type Filter = Readonly<{ q?: string; tag?: string; untagged?: "true"; id?: string }>;

type Read = Readonly<{
  path: string;
  /** What the answer should be: its status, and its body as JSON. */
  expected: (plants: readonly Held[]) => unknown;
  parse?: (text: string) => unknown;
  /** Whether plants that others import meanwhile do not matter. */
  isNarrow: boolean;
}>;

/** The tag of the plants that another sender imports meanwhile. Their names come after all others. */
const CROWD = "crowd";

const LARGE = 2100;
const PAGE = 1000;

const plantWith = (id: number, name: string, tag: string | undefined): Plant => (tag === undefined ? { id, name } : { id, name, tag });
const plantOf = ({ id, name, tag }: Plant) => plantWith(id, name, tag);
const lineOf = (plant: Plant) => JSON.stringify(plantOf(plant));
const csvOf = (plants: readonly Plant[]) => `id,name,tag\n${plants.map(({ id, name, tag = "" }) => `${id},${name},${tag}\n`).join("")}`;

async function send(ask: Ask, method: string, path: string, body?: string, type = "application/json"): Promise<void> {
  const response = await ask(path, { method, ...(body === undefined ? {} : { body, headers: { "content-type": type } }) });
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** The newest plant of an earlier write that still exists. */
function lastOf(model: Model): Held {
  return [...model.values()].findLast(({ id }) => id < 0)!;
}

/** A new plant of this write. Ids are below those of other senders. */
const newPlant = (at: number, tag: string | undefined, of = 0) => plantWith(-1_000_000 + at * 10_000 + of, `Acer w${at} n${of}`, tag);
const changed = ({ id }: Plant, at: number, tag: string | undefined) => plantWith(id, `Betula w${at}`, tag);

/** A write of these plants, which are all that it changes. */
function writing(plants: (turn: Turn) => readonly Plant[], act: (ask: Ask, plants: readonly Plant[]) => Promise<void>): Write {
  return async (ask, turn) => {
    const all = plants(turn);
    await act(ask, all);
    all.forEach(turn.put);
    return all.map(({ id }) => id);
  };
}

/** A write of one plant, or of one field of it. */
function single(method: "POST" | "PUT" | "PATCH", make: (turn: Turn) => Plant, field?: "name" | "tag"): Write {
  return writing(
    (turn) => [make(turn)],
    async (ask, [plant]) => {
      const body = field === undefined ? lineOf(plant!) : JSON.stringify({ [field]: plant![field] ?? null });
      await send(ask, method, method === "POST" ? "/plants" : `/plants/${plant!.id}`, body);
    },
  );
}

function importing(type: string, query: string, body: (plants: readonly Plant[]) => string) {
  return (ask: Ask, plants: readonly Plant[]) => send(ask, "POST", `/plants/import${query}`, body(plants), type);
}

const asLines = (plants: readonly Plant[]) => plants.map((plant) => `${lineOf(plant)}\n`).join("");
const ofTag = (at: number) => `t${at}`;
const some = (at: number, count: number) =>
  Array.from({ length: count }, (_, of) => newPlant(at, of % 3 === 0 ? undefined : ofTag(at), of));

export const WRITES: Readonly<Record<string, Write>> = {
  "POST a plant with a tag": single("POST", ({ at }) => newPlant(at, ofTag(at))),
  "POST a plant without a tag": single("POST", ({ at }) => newPlant(at, undefined)),
  "PUT a new plant": single("PUT", ({ at }) => newPlant(at, ofTag(at))),
  "PUT in place of a plant": single("PUT", ({ at, model }) => changed(lastOf(model), at, ofTag(at))),
  "PATCH a name": single("PATCH", ({ at, model }) => ({ ...lastOf(model), name: `Cedrus w${at}` }), "name"),
  "PATCH a tag": single("PATCH", ({ at, model }) => ({ ...lastOf(model), tag: ofTag(at) }), "tag"),
  "PATCH a tag away": single("PATCH", ({ model }) => ({ id: lastOf(model).id, name: lastOf(model).name }), "tag"),
  async DELETE(ask, { model, remove }) {
    const { id } = lastOf(model);
    await send(ask, "DELETE", `/plants/${id}`);
    remove(id);
    return [id];
  },
  async "POST again under the id of a plant that was deleted"(ask, { at, model, put, remove }) {
    const plant = changed(lastOf(model), at, ofTag(at));
    await send(ask, "DELETE", `/plants/${plant.id}`);
    remove(plant.id);
    await send(ask, "POST", "/plants", lineOf(plant));
    put(plant);
    return [plant.id];
  },
  async "POST changes"(ask, { at, model, put, remove }) {
    const [made, renamed] = [newPlant(at, ofTag(at)), lastOf(model)];
    const removed = [...model.values()].find(({ id }) => id < 0 && id !== renamed.id)!;
    const to = changed(renamed, at, undefined);
    const sideOf = ({ name, tag }: Plant) => ({ name, tag });
    const changes = [
      { id: made.id, from: null, to: sideOf(made) },
      { id: to.id, from: sideOf(renamed), to: sideOf(to) },
      { id: removed.id, from: sideOf(removed), to: null },
    ];
    await send(ask, "POST", "/plants/changes", JSON.stringify({ changes }));
    put(made);
    put(to);
    remove(removed.id);
    return [made.id, to.id, removed.id];
  },
  "import NDJSON of one line": writing(({ at }) => some(at, 1), importing("application/x-ndjson", "", asLines)),
  "import CSV of three rows": writing(({ at }) => some(at, 3), importing("text/csv", "", csvOf)),
  "import gzip": writing(
    ({ at }) => some(at, 2),
    async (ask, plants) => {
      const headers = { "content-type": "text/csv", "content-encoding": "gzip" };
      const { status } = await ask("/plants/import", { method: "POST", body: gzipSync(csvOf(plants)), headers });
      if (status !== 200) throw new Error(`The import was answered ${status}.`);
    },
  ),
  "import in place of plants": writing(
    ({ at, model }) =>
      [...model.values()]
        .filter(({ id }) => id < 0)
        .slice(-3)
        .map((plant, of) => changed(plant, at, of === 1 ? undefined : ofTag(at))),
    importing("application/x-ndjson", "?onConflict=replace", asLines),
  ),
  async "import beside a dry run"(ask, turn) {
    await send(ask, "POST", "/plants/import?dryRun=true", asLines(some(turn.at + 20, 3)), "application/x-ndjson");
    return writing(({ at }) => some(at, 2), importing("application/x-ndjson", "", asLines))(ask, turn);
  },
  "import many": writing(({ at }) => some(at, LARGE), importing("text/csv", "", csvOf)),
  "import in place of many": writing(
    ({ at, model }) =>
      [...model.values()].filter(({ id }) => id < 0).map((plant, of) => changed(plant, at, of % 2 === 0 ? undefined : ofTag(at))),
    importing("text/csv", "?onConflict=replace", csvOf),
  ),
};

function matches({ q, tag, untagged, id }: Filter): (plant: Plant) => boolean {
  return (plant) =>
    (q === undefined || plant.name.split(" ").includes(q)) &&
    (tag === undefined || plant.tag === tag) &&
    (untagged === undefined || plant.tag === undefined) &&
    (id === undefined || String(plant.id) === id);
}

const BY: Readonly<Record<string, (left: Held, right: Held) => number>> = {
  id: (left, right) => left.id - right.id,
  name: (left, right) => (left.name === right.name ? left.id - right.id : keyOf(left) < keyOf(right) ? -1 : 1),
  oldest: (left, right) => left.write - right.write || left.id - right.id,
};

/** Signs come before digits, and digits before letters, as in ASCII. */
const keyOf = ({ name }: Plant) => name.toLowerCase();

function inOrder(plants: readonly Held[], sort: string): Held[] {
  const reversed = { "-id": "id", "-name": "name", newest: "oldest" }[sort];
  const sorted = plants.toSorted(BY[reversed ?? sort]);
  return reversed === undefined ? sorted : sorted.toReversed();
}

function countTags(plants: readonly Plant[]): [string, number][] {
  const groups = Map.groupBy(
    plants.filter(({ tag }) => tag !== undefined),
    ({ tag }) => tag!,
  );
  return inTagOrder(Array.from(groups, ([tag, { length }]) => [tag, length]));
}

function parseTags(text: string): [string, number][] {
  const counts = (JSON.parse(text) as { tag: string; plants: number }[]).filter(({ tag }) => tag !== CROWD);
  return inTagOrder(counts.map(({ tag, plants }) => [tag, plants]));
}

const inTagOrder = (counts: [string, number][]) => counts.toSorted(([left], [right]) => (left < right ? -1 : 1));

const queryOf = (of: Readonly<Record<string, string>>) => (Object.keys(of).length === 0 ? "" : `?${new URLSearchParams(of).toString()}`);

type Named = Readonly<{ word: string; tag: string }>;

/** All ways to read plants, with the words and tags that a plant has before a write and after it. */
function readsOf(id: number, named: readonly Named[]): Read[] {
  const filters: Filter[] = [
    {},
    { untagged: "true" },
    ...named.flatMap(({ word: q, tag }): Filter[] => [{ q }, { tag }, { q, tag }, { q, untagged: "true" }]),
  ];
  const one = { id: String(id) };
  return [
    { path: `/plants?id=${id}&limit=${PAGE}`, expected: (plants) => plants.filter(matches(one)).map(plantOf), isNarrow: true },
    ...filters.flatMap(readsWith),
  ];
}

function readsWith(filter: Filter): Read[] {
  const isFiltered = Object.keys(filter).length > 0;
  const find = (plants: readonly Held[], sort = "id") => inOrder(plants.filter(matches(filter)), sort);
  const lists = ["id", "-id", "name", "-name", "newest", "oldest"].map((sort): Read => ({
    path: `/plants${queryOf({ ...filter, limit: String(PAGE), ...(sort === "id" ? {} : { sort }) })}`,
    expected: (plants) => find(plants, sort).slice(0, PAGE).map(plantOf),
    isNarrow: isFiltered || sort === "id" || sort === "name",
  }));
  return [
    ...lists,
    {
      path: `/plants/count${queryOf(filter)}`,
      expected: (plants) => ({ plants: find(plants).length, precision: "exact" }),
      isNarrow: isFiltered,
    },
    { path: `/tags${queryOf(filter)}`, expected: (plants) => countTags(find(plants)), parse: parseTags, isNarrow: true },
    {
      path: `/plants/export${queryOf({ ...filter, format: "csv" })}`,
      expected: (plants) => csvOf(find(plants)),
      parse: (text) => text.replaceAll("\r\n", "\n"),
      isNarrow: isFiltered,
    },
    { path: `/plants/export${queryOf(filter)}`, expected: (plants) => asLines(find(plants)), parse: String, isNarrow: isFiltered },
  ];
}

/** A search that a slow machine does not end within these milliseconds is refused (LIST_MS_MAX of the searcher). */
const SEARCH_MS_MAX = 5000;

export type Matrix = Readonly<{ writes: number; reads: number; cells: number; stale: readonly string[] }>;

export type MatrixOptions = Readonly<{ isBeside?: boolean; writes?: Readonly<Record<string, Write>> }>;

/**
 * Makes each write and then at once each read, twice: without a condition, and with the tag of what it was before the
 * write. Returns the cells in which the answer is not what was written.
 */
export async function findStale(ask: Ask, { isBeside = false, writes = WRITES }: MatrixOptions = {}): Promise<Matrix> {
  const model: Model = new Map();
  const stale: string[] = [];
  const kinds = new Set<string>();
  let cells = 0;

  /** Asks again where few run at a time, or the machine was too slow. Any other read that is refused counts as stale. */
  async function read(path: string, headers: Record<string, string>): Promise<Response> {
    let response: Response;
    await until(`${path} is answered`, async () => {
      const began = performance.now();
      response = await ask(path, { headers });
      const mayRefuse = isBeside || path.startsWith("/plants/export") || performance.now() - began >= SEARCH_MS_MAX;
      if (response.status !== 503 || !mayRefuse) return true;
      await response.arrayBuffer();
      return false;
    });
    return response!;
  }

  async function judge({ path, expected, parse = JSON.parse }: Read, before: Response | undefined, name: string): Promise<void> {
    const etag = before?.headers.get("etag");
    const kept = await before?.text();
    const wanted = JSON.stringify(expected([...model.values()]));
    // Counts of tags that take long, as beside an import, are kept for a while: their age says so.
    const isRight = (text: string, { status, headers }: Response) =>
      status < 400 && (JSON.stringify(withoutCrowd(parse(text))) === wanted || (isBeside && Number(headers.get("age")) > 0));
    const conditional = etag == null ? undefined : read(path, { "if-none-match": etag });
    const plain = read(path, {});
    cells += 1;
    const answer = await plain;
    if (!isRight(await answer.text(), answer)) stale.push(`${name}: ${path} (${answer.status})`);
    if (!conditional) return;
    cells += 1;
    const other = await conditional;
    const text = await other.text();
    if (!isRight(other.status === 304 ? kept! : text, other)) stale.push(`${name}: ${path} if none matches (${other.status})`);
  }

  for (const [at, [name, write]] of Object.entries(writes).entries()) {
    const last = model.size > 0 ? lastOf(model) : newPlant(at, undefined);
    const named = [
      { word: `w${at}`, tag: ofTag(at) },
      { word: last.name.split(" ")[1]!, tag: last.tag ?? "none" },
    ];
    const reads = readsOf(last.id, model.size === 0 ? named.slice(0, 1) : named).filter(({ isNarrow }) => isNarrow || !isBeside);
    const before = await Promise.all(reads.map(async ({ path }) => (path.startsWith("/plants/export") ? undefined : read(path, {}))));
    const changedIds = await write(ask, {
      at,
      model,
      put: (plant) => model.set(plant.id, { ...plantOf(plant), write: model.get(plant.id)?.write ?? at }),
      remove: (gone) => void model.delete(gone),
    });
    const ofPlants = changedIds.slice(-3).map(async (one) => {
      cells += 1;
      const response = await read(`/plants/${one}`, {});
      const text = await response.text();
      const isThere = model.has(one);
      if (isThere ? text !== lineOf(model.get(one)!) : response.status !== 404) stale.push(`${name}: /plants/${one}`);
    });
    await Promise.all([...ofPlants, ...reads.map((one, index) => judge(one, before[index], name))]);
    for (const { path } of reads) kinds.add(path.replaceAll(/=(?!true|-?name|-?id|newest|oldest|csv)[^&]*/g, ""));
  }
  return { writes: Object.keys(writes).length, reads: kinds.size + 1, cells, stale };
}

function withoutCrowd(body: unknown): unknown {
  return Array.isArray(body) ? body.filter((one: Plant) => one.tag !== CROWD) : body;
}

/** Another sender, who imports without an end. Call the result to end it. */
export function crowd(ask: Ask, plantsAtOnce: number): () => Promise<void> {
  let isOver = false;
  let id = 0;
  async function run(): Promise<void> {
    while (!isOver) {
      const plants = Array.from({ length: plantsAtOnce }, () => ({ id: (id += 1), name: `Zelkova n${id}`, tag: CROWD }));
      await send(ask, "POST", "/plants/import", asLines(plants), "application/x-ndjson");
    }
  }
  const running = run();
  return () => {
    isOver = true;
    return running;
  };
}

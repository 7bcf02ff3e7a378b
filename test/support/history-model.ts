import { expect } from "bun:test";
import { asPlantId, isSame } from "../../src/domain/plant.ts";
import type { NewPlant, PlantId } from "../../src/domain/plant.ts";
import { concerns } from "../../src/store/history.ts";
import type { LogCursor } from "../../src/store/history.ts";
import type { Store } from "../../src/store/store.ts";
import { pagesOf } from "./history-pages.ts";
import { below, pick } from "./random.ts";
import type { Random } from "./random.ts";

const IDS = Array.from({ length: 40 }, (_, at) => asPlantId(BigInt(at) * 3n ** 33n - 2n ** 56n));
const NAMES = ["Acer", "Aloe \0", "Ficus 🌿", ""] as const;
const TAGS = [undefined, "tree", "", "herb"] as const;

type State = NewPlant | undefined;

/** All that each plant was, the oldest first. */
export type Model = Readonly<{ states: Map<bigint, State[]> }>;

export function createModel(): Model {
  return { states: new Map(IDS.map((id) => [id, [undefined]])) };
}

const now = ({ states }: Model, id: bigint) => states.get(id)!.at(-1);

function note(model: Model, id: bigint, state: State): void {
  if (!isSame(now(model, id), state)) model.states.get(id)!.push(state);
}

function makePlant(random: Random): NewPlant {
  const tag = pick(random, TAGS);
  return { id: pick(random, IDS), name: pick(random, NAMES), ...(tag === undefined ? {} : { tag }) };
}

/** Makes a change, or what turns out to be none. */
export async function change(store: Store, model: Model, random: Random): Promise<void> {
  const plant = makePlant(random);
  const { id } = plant;
  const from = now(model, id);
  const kind = below(random, 10);
  if (kind < 3) {
    if (await store.plants.create(plant).then(Boolean, () => false)) note(model, id, plant);
  } else if (kind < 6) {
    expect(await store.plants.compareAndSwap({ from, to: plant })).toBe(true);
    note(model, id, plant);
  } else if (kind < 8) {
    const seen = below(random, 4) === 0 ? makePlant(random) : from;
    if (seen && (await store.plants.compareAndSwap({ from: seen, to: undefined }))) note(model, seen.id, undefined);
  } else await importSome(store, model, random);
}

async function importSome(store: Store, model: Model, random: Random): Promise<void> {
  const plants = Array.from({ length: 1 + below(random, 60) }, () => makePlant(random));
  const how = { isReplacing: below(random, 2) === 0, isDryRun: below(random, 4) === 0, import: `import ${below(random, 5)}` };
  const outcomes = await store.plants.import(plants, how);
  if (how.isDryRun) return;
  for (const [at, plant] of plants.entries()) if (outcomes[at] === "created" || outcomes[at] === "replaced") note(model, plant.id, plant);
}

/** A copy of what has a tag, or of all, made by what it reads. */
export class Copy {
  readonly #store: Store;
  readonly #tag: string | null | undefined;
  readonly #plants = new Map<bigint, NewPlant>();
  /** Which of its states each plant was seen in. */
  readonly #seen = new Map<bigint, number>();
  #cursor: LogCursor | undefined;
  readonly #cursors: LogCursor[] = [];

  constructor(store: Store, tag: string | null | undefined) {
    this.#store = store;
    this.#tag = tag;
  }

  /** Begins with all plants, as `GET /plants/export` has them with its cursor. */
  async begin(model: Model): Promise<void> {
    this.#cursor = await this.#store.history.newest();
    for (const id of IDS) this.#apply(id, await this.#store.plants.find(id), model);
  }

  /** Reads a page. Now and then it has forgotten what it read last, and reads that again. */
  async read(model: Model, random: Random): Promise<void> {
    if (this.#cursors.length > 0 && below(random, 5) === 0) this.#cursor = pick(random, this.#cursors);
    await this.readOn(model, random);
  }

  /** Reads the page that follows. */
  async readOn(model: Model, random: Random): Promise<void> {
    const query = { after: this.#cursor, limit: 1 + below(random, 50), tag: this.#tag };
    const { changes, cursor } = await this.#store.history.read(query);
    for (const one of changes) {
      if (this.#tag !== undefined) expect(concerns(one, this.#tag)).toBe(true);
      this.#apply(one.id, one.plant, model);
      this.#cursors.push(one.cursor);
    }
    this.#cursor = cursor;
  }

  isEqual(model: Model): boolean {
    return IDS.every((id) => {
      const plant = now(model, id);
      return isSame(this.#plants.get(id), plant && this.#isWanted(plant) ? plant : undefined);
    });
  }

  #isWanted({ tag }: NewPlant): boolean {
    return this.#tag === undefined || (tag ?? null) === this.#tag;
  }

  /** What it reads is what the plant is or was, and nothing older than what it has read before. */
  #apply(id: bigint, plant: State, model: Model): void {
    const states = model.states.get(id)!;
    const at = states.findIndex((state, index) => index >= (this.#seen.get(id) ?? 0) && isSame(state, plant));
    expect(at).toBeGreaterThanOrEqual(0);
    this.#seen.set(id, at);
    if (plant && this.#isWanted(plant)) this.#plants.set(id, plant);
    else this.#plants.delete(id);
  }
}

/** All that a plant was, by its history, the oldest first. Expects that each change begins where the one before ended. */
export async function statesOf(store: Store, id: PlantId, random: Random): Promise<State[]> {
  const states: State[] = [];
  let from: State;
  for await (const changes of pagesOf((before) => store.history.ofPlant(id, { before, limit: 1 + below(random, 10) })))
    for (const one of changes) {
      if (states.length > 0) expect(one.to).toEqual(from);
      states.push(one.to);
      ({ from } = one);
    }
  expect(from).toBeUndefined();
  return [undefined, ...states.toReversed()];
}

/** Expects of each plant that its history has all that it was; those of one import may be one change on PostgreSQL. */
export async function expectHistories(store: Store, { states }: Model, { random, isExact }: { random: Random; isExact: boolean }) {
  for (const id of IDS) {
    const known = states.get(id)!;
    const found = await statesOf(store, id, random);
    if (isExact) expect(found).toEqual(known);
    else expect([found.at(-1), found.length <= known.length]).toEqual([known.at(-1), true]);
  }
}

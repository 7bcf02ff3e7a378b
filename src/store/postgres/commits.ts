import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../errors.ts";
import { isSame } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import { createGroupCommit } from "../batch.ts";
import type { Changes, Outcome, Outcomes } from "../batch.ts";
import type { ImportOptions, ImportOutcome, PlantStore, Swap } from "../store.ts";
import { contentOf, seenOf, toPlant } from "./columns.ts";
import type { PlantRow } from "./columns.ts";
import type { Ask, AskOptions } from "./retry.ts";
import { CONFIRM_PLANTS, DELETE_PLANTS, FIND_PLANTS, INSERT_PLANTS, REPLACE_PLANTS, UPDATE_PLANTS } from "./statements.ts";

/** All that changes plants. */
export type Commits = Pick<PlantStore, "create" | "swap" | "import" | "isFull"> & Readonly<{ close(): Promise<void> }>;

type CommitsOptions = Readonly<{
  /** For single changes, and for those of files. */
  ask: Ask;
  askForFiles: Ask;
  queueMax: number;
  queueWaitMs: number;
  now: () => number;
}>;

/** How many commits of creates, and of swaps, run at a time, each on a connection of its own. */
const CREATES_IN_FLIGHT = 3;
const SWAPS_IN_FLIGHT = 2;

/** While one commit is elsewhere the processor is free for the next: commits that take turns are faster than one for all who wait. Measured. */
const GATHER_TURNS = 2;
const ENOUGH = 32;

const IMPORT_MS_MAX = 20_000;

/** How often it is looked again at plants that others create and delete at the same moment. */
const TRIES_MAX = 10;

export function createCommits({ ask, askForFiles, queueMax, queueWaitMs, now }: CommitsOptions): Commits {
  let isClosed = false;
  const single = putter(ask, { isRepeatable: true });
  const bulk = putter(askForFiles, { isRepeatable: true, statementMs: IMPORT_MS_MAX });
  const limits = { gatherTurns: GATHER_TURNS, enough: ENOUGH, queueMax, waitMs: queueWaitMs, now };

  async function commitCreates({ creates }: Changes): Promise<Outcomes> {
    const outcomes = await single(creates, { isReplacing: false, isDryRun: false });
    return { creates: outcomes as Outcome[], swaps: [] };
  }

  async function commitSwaps({ swaps }: Changes): Promise<Outcomes> {
    return { creates: [], swaps: await makeSwaps(ask, swaps, { isRepeatable: false }) };
  }

  // Apart, as a create may be repeated when nobody knows what became of it, and a swap may not.
  const creates = createGroupCommit({ commit: commitCreates, inFlightMax: CREATES_IN_FLIGHT, ...limits });
  const swaps = createGroupCommit({ commit: commitSwaps, inFlightMax: SWAPS_IN_FLIGHT, ...limits });

  return {
    create: creates.create,
    swap: swaps.swap,
    isFull: (kind, owner) => (kind === "create" ? creates : swaps).isFull(owner),
    import(plants, options) {
      if (isClosed) return Promise.reject(new PlantStoreError("draining"));
      return bulk(plants, options);
    },
    async close() {
      isClosed = true;
      await Promise.all([creates.close(), swaps.close()]);
    },
  };
}

type Put = (plants: readonly NewPlant[], options: ImportOptions) => Promise<ImportOutcome[]>;

/** Creates or replaces plants; one outcome each, in their order. */
function putter(ask: Ask, how: AskOptions): Put {
  async function insert(plants: readonly NewPlant[]): Promise<Set<bigint>> {
    const rows = await ask<[id: bigint]>(INSERT_PLANTS, await contentOf(plants), how);
    return new Set(rows.map(([id]) => id));
  }

  async function find(plants: readonly NewPlant[]): Promise<Map<PlantId, NewPlant>> {
    const rows = await ask<PlantRow>(FIND_PLANTS, [plants.map(({ id }) => id)], how);
    return new Map(rows.map(toPlant).map((plant) => [plant.id, plant]));
  }

  /** Whether they all stand so for good: the write of one of them waits for all that was committed before. */
  async function confirm([plant]: readonly NewPlant[]): Promise<boolean> {
    return plant === undefined || (await ask(CONFIRM_PLANTS, await seenOf([plant]), how)).length === 1;
  }

  return async (plants, { isReplacing, isDryRun }) => {
    // Of several with one id the first is created, and the last replaces.
    const wanted = new Map((isReplacing ? plants : plants.toReversed()).map((plant) => [plant.id, plant]));
    const before = new Map<PlantId, NewPlant>();
    // In one order everywhere: two commits that wait for each other's plants would wait for ever.
    let open = [...wanted.values()].toSorted(byId);
    for (let tries = 0; open.length > 0; tries += 1) {
      if (tries === TRIES_MAX) throw new PlantStoreError("overloaded");
      if (tries > 0) await sleep(Math.random() * tries);
      const created = isDryRun ? new Set() : await insert(open);
      const others = open.filter(({ id }) => !created.has(id));
      if (others.length === 0) break;
      const stored = await find(others);
      for (const [id, plant] of stored) before.set(id, plant);
      if (isDryRun) break;
      const there = others.filter(({ id }) => stored.has(id));
      const { same = [], different = [] } = Object.groupBy(there, (plant) => (isSame(plant, stored.get(plant.id)) ? "same" : "different"));
      if (isReplacing && different.length > 0) await ask(REPLACE_PLANTS, await contentOf(different), how);
      // Those that were deleted meanwhile, or were changed.
      open = others.filter(({ id }) => !stored.has(id));
      if (!(await confirm(same))) open.push(...same);
      for (const { id } of open) before.delete(id);
    }
    return tellOutcomes(plants, before, isReplacing);
  };
}

function byId(left: NewPlant, right: NewPlant): number {
  return left.id < right.id ? -1 : 1;
}

/** What becomes of plants that come one after the other to those that were there before. */
function tellOutcomes(plants: readonly NewPlant[], before: ReadonlyMap<PlantId, NewPlant>, isReplacing: boolean): ImportOutcome[] {
  const there = new Map(before);
  return plants.map((plant) => {
    const stored = there.get(plant.id);
    if (stored === undefined || isReplacing) there.set(plant.id, plant);
    if (stored === undefined) return "created";
    if (isSame(stored, plant)) return "same";
    return isReplacing ? "replaced" : "in_use";
  });
}

/** Makes swaps in their order, those of different plants together; tells of each whether it was made. */
async function makeSwaps(ask: Ask, swaps: readonly Swap[], how: AskOptions): Promise<boolean[]> {
  const made = swaps.map(() => false);
  /** What those plants are now of which a swap was made: another of the same plant that was seen otherwise fails without asking. */
  const current = new Map<PlantId, NewPlant | undefined>();
  let open = [...swaps.entries()];
  while (open.length > 0) {
    const turn = new Map<PlantId, number>();
    const later: typeof open = [];
    for (const [at, swap] of open) {
      const { id } = (swap.from ?? swap.to)!;
      if (turn.has(id)) later.push([at, swap]);
      else if (!current.has(id) || isSame(swap.from, current.get(id))) turn.set(id, at);
    }
    // In one order everywhere, as above.
    const ids = [...turn.keys()].toSorted((left, right) => (left < right ? -1 : 1));
    const changed = await makeAtOnce(
      ask,
      ids.map((id) => swaps[turn.get(id)!]!),
      how,
    );
    for (const [id, at] of turn) {
      if (!changed.has(id)) continue;
      made[at] = true;
      current.set(id, swaps[at]!.to);
    }
    open = later;
  }
  return made;
}

/** Makes swaps of which each is of another plant; gives the ids of those that were made. */
async function makeAtOnce(ask: Ask, swaps: readonly Swap[], how: AskOptions): Promise<Set<bigint>> {
  const inserts: NewPlant[] = [];
  const updates: { from: NewPlant; to: NewPlant }[] = [];
  const deletes: NewPlant[] = [];
  for (const { from, to } of swaps) {
    if (from && to) updates.push({ from, to });
    else if (from) deletes.push(from);
    else if (to) inserts.push(to);
  }
  const rows: [id: bigint][] = [];
  if (inserts.length > 0) rows.push(...(await ask<[bigint]>(INSERT_PLANTS, await contentOf(inserts), how)));
  if (deletes.length > 0) rows.push(...(await ask<[bigint]>(DELETE_PLANTS, await seenOf(deletes), how)));
  if (updates.length > 0) {
    const [, ...content] = await contentOf(updates.map(({ to }) => to));
    rows.push(...(await ask<[bigint]>(UPDATE_PLANTS, [...(await seenOf(updates.map(({ from }) => from))), ...content], how)));
  }
  return new Set(rows.map(([id]) => id));
}

import { PlantStoreError } from "../../domain/errors.ts";
import { createPace } from "../../runtime/event-loop.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { coalesceReads } from "../coalesced-reads.ts";
import { COUNTED_MAX, toCount } from "../counts.ts";
import { GroupCommit } from "../group-commit.ts";
import type { Changes, Outcome, Outcomes } from "../batch.ts";
import type { ImportOptions, PlantStore } from "../plants.ts";
import { createSnapshots } from "../snapshots.ts";
import { translated } from "./engine/failure.ts";
import type { Health } from "./engine/health.ts";
import type { openSnapshot, Reader } from "./engine/reader.ts";
import { SNAPSHOT_WAL_PAGES_MAX, WAL_PAGES_MAX } from "./engine/requirements.ts";
import type { Committed } from "./engine/writer.ts";
import type { SqliteMeter } from "./metrics.ts";
import { OUTCOMES } from "./plant-statements.ts";
import type { PlantColumns } from "./plant-statements.ts";
import { NOTHING_INDEXED } from "./search/changes.ts";
import type { Searcher } from "./search/searcher.ts";

/** Plants, and the group commit that all changes to the store share. */
export type Plants = Readonly<{
  plants: PlantStore;
  changes: Pick<GroupCommit, "changeToken" | "isFull" | "close">;
}>;

type PlantsOptions = Readonly<{
  writer: Health;
  reader: Reader["plants"];
  /** Opens a snapshot. */
  takeSnapshot: () => ReturnType<typeof openSnapshot>;
  /** Only a store opened to serve has one. */
  searcher: Searcher | undefined;
  queueMax: number;
  queueWaitMs: number;
  meter: Pick<SqliteMeter, "commits" | "syncs">;
  now: () => number;
}>;

const GATHER_TURNS = 4;

export function createPlants({ writer, reader, takeSnapshot, searcher, queueMax, queueWaitMs, meter, now }: PlantsOptions): Plants {
  const pace = createPace(now);
  let isClosed = false;
  // One commit of imports at a time, and none while changes gather: these would otherwise wait for several.
  let importing: Promise<void> = Promise.resolve();
  /** The newest change of an import. */
  let imported = 0;

  const indexed = () => searcher?.indexed() ?? NOTHING_INDEXED;

  const snapshots = createSnapshots(() => {
    const { list, close } = translated(takeSnapshot);
    return {
      async list(query) {
        await pace();
        return translated(() => list(query));
      },
      close,
    };
  });

  function note({ change, walPages, syncMs }: Committed): void {
    meter.syncs.observe(syncMs / 1000);
    if (change !== undefined) searcher?.follow();
    if (walPages >= SNAPSHOT_WAL_PAGES_MAX) snapshots.endAll();
    // Only the process that serves makes checkpoints: two at once would clear each other's marks.
    if (walPages >= WAL_PAGES_MAX && searcher) writer.checkpoint();
  }

  async function commit({ creates, swaps, tokens }: Changes): Promise<Outcomes> {
    const committed = await writer.call("commit", toColumns(creates), swaps, tokens, indexed());
    note(committed);
    const outcomes = Array.from(committed.outcomes, (outcome) => OUTCOMES[outcome] as Outcome);
    return { creates: outcomes, swaps: committed.swapped, tokens: committed.tokens };
  }

  async function importNow(plants: readonly NewPlant[], options: ImportOptions): Promise<Committed> {
    if (isClosed) throw new PlantStoreError("draining");
    const committed = await writer.call("importPlants", toColumns(plants), options, indexed());
    if (!options.isDryRun) note(committed);
    return committed;
  }

  function requireSearcher(): Searcher {
    if (!searcher) throw new PlantStoreError("index_building");
    return searcher;
  }

  const group = new GroupCommit({
    commit,
    inFlightMax: 1,
    gatherTurns: GATHER_TURNS,
    enough: Infinity,
    // Commits index no words here.
    searchedMax: Infinity,
    queueMax,
    waitMs: queueWaitMs,
    now,
    meter: meter.commits,
  });

  return {
    plants: {
      create: group.create,
      compareAndSwap: group.compareAndSwap,
      async import(plants, options) {
        const turn = importing.then(group.gathered).then(() => importNow(plants, options));
        importing = turn.then(
          () => undefined,
          () => undefined,
        );
        const { change, outcomes } = await turn;
        const before = imported;
        imported = change ?? imported;
        // Reads wait until the index holds what was committed before them, so an import is no faster than the index.
        await searcher?.reach(before);
        return Array.from(outcomes, (outcome) => OUTCOMES[outcome]!);
      },
      find: coalesceReads({ readAll: (ids: readonly PlantId[]) => translated(() => reader.find(ids)), inFlightMax: 1 }),
      async list(query) {
        // Only the index of names knows which plants have no tag: an index of the table would cost each create.
        if (query.words.length > 0 || query.tag === null) return requireSearcher().list(query);
        await pace();
        return translated(() => reader.list(query));
      },
      listOrdered: async (query) => requireSearcher().listOrdered(query),
      snapshot: snapshots.open,
      // One thread runs all searches. Every other slow call is limited before it gets here.
      takesTurns: (kind) => kind === "search",
      countTags: async () => requireSearcher().countTags(),
      async count(terms) {
        const { words, tag } = terms;
        if (words.length === 0 && tag === undefined) return { plants: translated(reader.count), precision: "exact" };
        if (words.length === 0 && tag !== null) return toCount(translated(() => reader.countOfTag(tag!, COUNTED_MAX + 1)));
        const { plants, precision } = await requireSearcher().countFoundTags(terms);
        return { plants, precision };
      },
      countFoundTags: async (terms) => requireSearcher().countFoundTags(terms),
    },
    changes: {
      changeToken: group.changeToken,
      isFull: group.isFull,
      async close() {
        isClosed = true;
        snapshots.close();
        await group.close();
      },
    },
  };
}

function toColumns(plants: readonly NewPlant[]): PlantColumns {
  const ids = new BigInt64Array(plants.length);
  for (let at = 0; at < plants.length; at += 1) ids[at] = plants[at]!.id;
  return { ids, names: plants.map(({ name }) => name), tags: plants.map(({ tag }) => tag ?? null) };
}

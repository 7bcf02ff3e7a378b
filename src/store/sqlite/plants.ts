import { PlantStoreError } from "../../domain/errors.ts";
import type { PlantId } from "../../domain/plant.ts";
import { coalesceReads } from "../coalesced-reads.ts";
import type { PlantStore } from "../plants.ts";
import { createSnapshots } from "../snapshots.ts";
import { Commits } from "./commits.ts";
import type { CommitsOptions } from "./commits.ts";
import { translated } from "./engine/failure.ts";
import type { openSnapshot, Reader } from "./engine/reader.ts";
import type { Searcher } from "./search/searcher.ts";

type PlantsOptions = Omit<CommitsOptions, "snapshots"> &
  Readonly<{
    reader: Reader["plants"];
    /** Resolves when the main thread may read a page. */
    pace: () => Promise<void>;
    /** Opens a snapshot. */
    takeSnapshot: () => ReturnType<typeof openSnapshot>;
  }>;

/** Plants, and the commits of all changes of the store. */
export function createPlants({
  reader,
  takeSnapshot,
  pace,
  ...options
}: PlantsOptions): Readonly<{ plants: PlantStore; commits: Commits }> {
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
  const commits = new Commits({ ...options, snapshots });

  function requireSearcher(): Searcher {
    if (!options.searcher) throw new PlantStoreError("index_building");
    return options.searcher;
  }

  const plants: PlantStore = {
    create: commits.group.create,
    compareAndSwap: commits.group.compareAndSwap,
    import: (some, how) => commits.import(some, how),
    find: coalesceReads({ readAll: (ids: readonly PlantId[]) => translated(() => reader.find(ids)), inFlightMax: 1 }),
    async list(query) {
      // Tags are in the search index only: an index of the table would cost each create.
      if (query.words.length > 0 || query.tag !== undefined) return requireSearcher().list(query);
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
      return requireSearcher().count(terms);
    },
    countFoundTags: async (terms) => requireSearcher().countFoundTags(terms),
  };
  return { plants, commits };
}

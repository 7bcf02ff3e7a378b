import { PlantStoreError } from "../../domain/errors.ts";
import type { NewPlant } from "../../domain/plant.ts";
import { GroupCommit } from "../group-commit.ts";
import type { Changes, Outcome, Outcomes } from "../batch.ts";
import type { History } from "../history.ts";
import type { ImportOptions, ImportOutcome } from "../plants.ts";
import type { Snapshots } from "../snapshots.ts";
import type { Health } from "./engine/health.ts";
import { SNAPSHOT_WAL_PAGES_MAX, WAL_PAGES_MAX } from "./engine/wal.ts";
import type { Committed } from "./engine/writer.ts";
import type { SqliteMeter } from "./metrics.ts";
import { OUTCOMES } from "./plant-statements.ts";
import type { PlantColumns } from "./plant-statements.ts";
import { toWriters } from "./log-row.ts";
import { NOTHING_INDEXED } from "./search/changes.ts";
import type { Searcher } from "./search/searcher.ts";

export type CommitsOptions = Readonly<{
  writer: Health;
  snapshots: Snapshots;
  /** Only a store opened to serve has one. */
  searcher: Searcher | undefined;
  queueMax: number;
  queueWaitMs: number;
  meter: Pick<SqliteMeter, "commits" | "syncs">;
  now: () => number;
}>;

const GATHER_TURNS = 4;

/** All commits of the store: those of single changes, of plants and tokens, and between them those of imports. */
export class Commits {
  readonly #options: CommitsOptions;
  readonly group: GroupCommit;
  #isClosed = false;
  // One commit of imports at a time, and none while changes gather: these would otherwise wait for several.
  #importing: Promise<unknown> = Promise.resolve();
  /** The newest change of an import. */
  #imported = 0;
  readonly #watchers = new Set<() => void>();

  constructor(options: CommitsOptions) {
    const { queueMax, queueWaitMs, meter, now } = options;
    this.#options = options;
    this.group = new GroupCommit({
      commit: (changes) => this.#commit(changes),
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
  }

  async import(plants: readonly NewPlant[], options: ImportOptions): Promise<readonly ImportOutcome[]> {
    const all: ImportOutcome[] = [];
    do {
      const turn = this.#importing.then(this.group.gathered).then(() => this.#import(plants.slice(all.length), options));
      this.#importing = turn.catch(() => {});
      const { change, outcomes } = await turn;
      const before = this.#imported;
      this.#imported = change ?? before;
      // Reads wait until the index holds what was committed before them, so an import is no faster than the index.
      await this.#options.searcher?.index.reach(before);
      all.push(...Array.from(outcomes, (outcome) => OUTCOMES[outcome]!));
    } while (all.length < plants.length);
    return all;
  }

  /** Deletes some changes that are no longer kept, of which the index holds those up to `indexed` durably. True if there are more. */
  async forgetChanges(indexed: number): Promise<boolean> {
    const { isMore, walPages } = await this.#options.writer.call("forgetChanges", indexed);
    this.#noteWal(walPages);
    return isMore;
  }

  /** Calls `onMore` after each commit that changed plants. Returns what ends that. */
  readonly watch: History["watch"] = (onMore) => {
    const watcher = () => onMore();
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.snapshots.close();
    await this.group.close();
  }

  async #commit({ creates, swaps, tokens, creators, swappers }: Changes): Promise<Outcomes> {
    const columns = { ...toColumns(creates), by: toWriters(creators) };
    const committed = await this.#options.writer.call("commit", columns, swaps, tokens, this.#indexed(), toWriters(swappers));
    this.#note(committed);
    const outcomes = Array.from(committed.outcomes, (outcome) => OUTCOMES[outcome] as Outcome);
    return { creates: outcomes, swaps: committed.swapped, tokens: committed.tokens };
  }

  async #import(plants: readonly NewPlant[], options: ImportOptions): Promise<Committed> {
    if (this.#isClosed) throw new PlantStoreError("draining");
    const committed = await this.#options.writer.call("importPlants", toColumns(plants), options, this.#indexed());
    if (!options.isDryRun) this.#note(committed);
    return committed;
  }

  #indexed(): number {
    return this.#options.searcher?.index.indexed() ?? NOTHING_INDEXED;
  }

  #note({ change, walPages, syncMs }: Committed): void {
    const { searcher, meter } = this.#options;
    meter.syncs.observe(syncMs / 1000);
    if (change !== undefined) {
      searcher?.index.follow();
      for (const watcher of this.#watchers) watcher();
    }
    this.#noteWal(walPages);
  }

  #noteWal(walPages: number): void {
    const { writer, searcher, snapshots } = this.#options;
    if (walPages >= SNAPSHOT_WAL_PAGES_MAX) snapshots.endAll();
    // Only the process that serves makes checkpoints: two at once would clear each other's marks.
    if (walPages >= WAL_PAGES_MAX && searcher) writer.checkpoint();
  }
}

function toColumns(plants: readonly NewPlant[]): PlantColumns {
  const ids = new BigInt64Array(plants.length);
  for (let at = 0; at < plants.length; at += 1) ids[at] = plants[at]!.id;
  return { ids, names: plants.map(({ name }) => name), tags: plants.map(({ tag }) => tag ?? null) };
}

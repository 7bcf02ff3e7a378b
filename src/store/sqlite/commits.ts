import { PlantStoreError } from "../../errors.ts";
import type { NewPlant } from "../../plant.ts";
import { createGroupCommit } from "../batch.ts";
import type { Changes, Outcome, Outcomes } from "../batch.ts";
import type { PlantStore } from "../store.ts";
import type { Finder } from "./finder.ts";
import type { Guard } from "./guard.ts";
import { OUTCOMES } from "./writer.ts";
import type { Committed, PlantColumns } from "./writer.ts";

/** All that changes plants: it goes through the writer, tells the finder, and keeps the WAL small. */
export type Commits = Pick<PlantStore, "create" | "swap" | "import" | "isFull"> & Readonly<{ close(): Promise<void> }>;

type CommitsOptions = Readonly<{
  writer: Guard;
  finder: Finder | undefined;
  queueMax: number;
  queueWaitMs: number;
  now: () => number;
}>;

const GATHER_TURNS = 4;

export function createCommits({ writer, finder, queueMax, queueWaitMs, now }: CommitsOptions): Commits {
  let isClosed = false;

  const seen = () => finder?.seen() ?? { changes: 0, bulkChanges: 0 };

  function note({ isChanged, isCheckpointDue }: Committed, isBulk: boolean): void {
    if (isChanged) finder?.follow(isBulk);
    if (isCheckpointDue) writer.checkpoint();
  }

  async function commit({ creates, swaps }: Changes): Promise<Outcomes> {
    const committed = await writer.call("commit", toColumns(creates), swaps, seen());
    note(committed, false);
    const outcomes = Array.from(committed.outcomes, (outcome) => OUTCOMES[outcome] as Outcome);
    return { creates: outcomes, swaps: committed.swapped };
  }

  const group = createGroupCommit({
    commit,
    inFlightMax: 1,
    gatherTurns: GATHER_TURNS,
    enough: Infinity,
    queueMax,
    waitMs: queueWaitMs,
    now,
  });

  return {
    create: group.create,
    swap: group.swap,
    isFull: (_kind, owner) => group.isFull(owner),
    async import(plants, options) {
      if (isClosed) throw new PlantStoreError("draining");
      const committed = await writer.call("importPlants", toColumns(plants), options, seen());
      note(committed, !options.isDryRun);
      return Array.from(committed.outcomes, (outcome) => OUTCOMES[outcome]!);
    },
    async close() {
      isClosed = true;
      await group.close();
    },
  };
}

function toColumns(plants: readonly NewPlant[]): PlantColumns {
  const ids = new BigInt64Array(plants.length);
  for (let at = 0; at < plants.length; at += 1) ids[at] = plants[at]!.id;
  return { ids, names: plants.map(({ name }) => name), tags: plants.map(({ tag }) => tag ?? null) };
}

import { PlantStoreError } from "../../errors.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import { coalesceReads } from "../coalesced-reads.ts";
import type { CommitMeter } from "../commit-meter.ts";
import { createGroupCommit } from "../group-commit.ts";
import type { Changes, Outcome, Outcomes } from "../batch.ts";
import type { GroupCommit, QueueLimits } from "../group-commit.ts";
import type { ImportOutcome, PlantStore } from "../plants.ts";
import type { Execute } from "./engine/retry.ts";
import { toPlant } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { forEachPart } from "./plant-layout.ts";
import type { PlantLayout } from "./plant-layout.ts";
import { openLanes } from "./lanes.ts";
import { createPut } from "./plant-puts.ts";
import { FIND_PLANTS } from "./plant-statements.ts";
import { makeSwaps } from "./plant-swaps.ts";

/** The plants of one server, and the queues of their changes: a commit is on one server. */
export type ServerPlants = Pick<PlantStore, "create" | "compareAndSwap" | "import" | "find"> &
  Readonly<{
    queues: Readonly<Record<"creates" | "changes", ReadonlyArray<Pick<GroupCommit, "isFull">>>>;
    close(): Promise<void>;
  }>;

type ServerPlantsOptions = Readonly<{
  /** Each has connections of its own. */
  execute: Readonly<Record<"writes" | "reads" | "imports", Execute>>;
  layout: PlantLayout;
  /** For each queue. */
  limits: QueueLimits;
  meter: CommitMeter;
}>;

/** How many commits of creates, and of swaps, run at a time, each on its own connection. With shards it is fewer. */
const CREATES_IN_FLIGHT = 3;
const SWAPS_IN_FLIGHT = 2;

/** How many coalesced reads of single plants run at a time, each on its own connection. */
const FINDS_IN_FLIGHT = 2;

const IMPORT_MS_MAX = 20_000;

export function createServerPlants({ execute, layout, limits, meter }: ServerPlantsOptions): ServerPlants {
  let isClosed = false;
  const single = createPut(execute.writes, layout, { isRepeatable: true });
  const bulk = createPut(execute.imports, layout, { isRepeatable: true, statementMs: IMPORT_MS_MAX });

  async function commitCreates({ creates }: Changes): Promise<Outcomes> {
    return { creates: (await single(creates, { isReplacing: false, isDryRun: false })) as Array<Outcome | Error> };
  }

  async function commitSwaps({ swaps }: Changes): Promise<Outcomes> {
    return { swaps: await makeSwaps(execute.writes, swaps, { layout, isRepeatable: false }) };
  }

  async function findAll(ids: readonly PlantId[]): Promise<Array<NewPlant | undefined>> {
    const wanted = ids.map((id) => ({ id }));
    const rows = await forEachPart(layout.split(wanted), (part) =>
      execute.reads<PlantRow>(layout.for(FIND_PLANTS, part), [part.map(({ id }) => id)], { isRepeatable: true }),
    );
    const plants = new Map(rows.map(toPlant).map((plant) => [plant.id, plant]));
    return ids.map((id) => plants.get(id));
  }

  // Two queues: a create may be repeated when its outcome is unknown, a swap may not.
  const queue = (commit: (changes: Changes) => Promise<Outcomes>) => (inFlightMax: number) =>
    createGroupCommit({ commit, inFlightMax, meter, ...limits });
  const creates = openLanes(layout, CREATES_IN_FLIGHT, queue(commitCreates));
  const changes = openLanes(layout, SWAPS_IN_FLIGHT, queue(commitSwaps));
  const finds = openLanes(layout, FINDS_IN_FLIGHT, (inFlightMax) => coalesceReads({ readAll: findAll, inFlightMax }));

  return {
    create: (plant, options) => creates.of(plant.id).create(plant, options),
    compareAndSwap: (swap, owner) => changes.of((swap.from ?? swap.to)!.id).compareAndSwap(swap, owner),
    async import(plants, options) {
      if (isClosed) throw new PlantStoreError("draining");
      const outcomes = await bulk(plants, options);
      for (const outcome of outcomes) if (outcome instanceof Error) throw outcome;
      return outcomes as ImportOutcome[];
    },
    find: (id) => finds.of(id)(id),
    queues: { creates: creates.all, changes: changes.all },
    async close() {
      isClosed = true;
      await Promise.all([...creates.all, ...changes.all].map((each) => each.close()));
    },
  };
}

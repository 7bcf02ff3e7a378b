import { PlantStoreError } from "../../domain/errors.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { coalesceReads } from "../coalesced-reads.ts";
import type { CommitMeter } from "../commit-meter.ts";
import { GroupCommit } from "../group-commit.ts";
import type { Changes, Outcome, Outcomes } from "../batch.ts";
import type { QueueLimits } from "../group-commit.ts";
import type { ImportOutcome, PlantStore } from "../plants.ts";
import type { Execute } from "./engine/retry.ts";
import { plantsById } from "./plant-columns.ts";
import { createPut, createReplace } from "./plant-puts.ts";
import { makeSwaps } from "./plant-swaps.ts";
import type { OpenTables } from "./plant-tables.ts";

/** The plants of one server, and the queues of their changes: a commit is on one server. */
export type ServerPlants = Pick<PlantStore, "create" | "compareAndSwap" | "import" | "find"> &
  Readonly<{
    queues: Readonly<Record<"creates" | "changes", Pick<GroupCommit, "isFull">>>;
    close(why?: PlantStoreError): Promise<void>;
  }>;

type ServerPlantsOptions = Readonly<{
  /** Each has connections of its own. */
  execute: Readonly<Record<"writes" | "reads" | "imports", Execute>>;
  open: OpenTables;
  /** How many commits of creates, of changes, and coalesced reads run at a time, each on a connection of its own. */
  inFlight: Readonly<Record<"creates" | "changes" | "finds", number>>;
  /** For each queue. */
  limits: QueueLimits;
  meter: CommitMeter;
}>;

/** @limit PostgreSQL: duration of a commit of an import */
const IMPORT_MS_MAX = 20_000;

export function createServerPlants({ execute, open, inFlight, limits, meter }: ServerPlantsOptions): ServerPlants {
  let closed: PlantStoreError | undefined;
  const writes = open(execute.writes, { isRepeatable: true });
  const swapped = open(execute.writes, { isRepeatable: false });
  const read = open(execute.reads, { isRepeatable: true });
  const single = createPut(writes);
  const imported = open(execute.imports, { isRepeatable: true, statementMs: IMPORT_MS_MAX });
  const { update } = open(execute.imports, { isRepeatable: false, statementMs: IMPORT_MS_MAX });
  const bulk = createPut(imported);
  const replace = createReplace(imported, update);

  async function commitCreates({ creates, creators }: Changes): Promise<Outcomes> {
    // Of several creates with one id, the first one creates.
    const by = new Map(creates.map(({ id }, at) => [id, creators[at]!] as const).toReversed());
    return { creates: (await single(creates, { isDryRun: false, origin: { by: (id) => by.get(id)! } })) as Array<Outcome | Error> };
  }

  async function findAll(ids: readonly PlantId[]): Promise<Array<NewPlant | undefined>> {
    const plants = plantsById(await read.find(ids));
    return ids.map((id) => plants.get(id));
  }

  // Two queues: a create may be repeated when its outcome is unknown, a swap may not.
  const creates = new GroupCommit({ commit: commitCreates, inFlightMax: inFlight.creates, meter, ...limits });
  const changes = new GroupCommit({
    commit: async (batch) => ({ swaps: await makeSwaps(swapped, batch) }),
    inFlightMax: inFlight.changes,
    meter,
    ...limits,
  });

  return {
    create: creates.create,
    compareAndSwap: changes.compareAndSwap,
    async import(plants, { isReplacing, isDryRun, by = "", import: id }) {
      if (closed) throw closed;
      const outcomes = await bulk(plants, { isDryRun, replace: isReplacing ? replace : undefined, origin: { by: () => by, import: id } });
      for (const outcome of outcomes) if (outcome instanceof Error) throw outcome;
      return outcomes as ImportOutcome[];
    },
    find: coalesceReads({ readAll: findAll, inFlightMax: inFlight.finds }),
    queues: { creates, changes },
    async close(why = new PlantStoreError("draining")) {
      closed = why;
      await Promise.all([creates.close(why), changes.close(why)]);
    },
  };
}

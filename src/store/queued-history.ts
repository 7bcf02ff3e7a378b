import type { Owner } from "../runtime/fair-shares.ts";
import type { FairQueue } from "./fair-queue.ts";
import type { History } from "./history.ts";

/** The history for one caller, the owner of its shares. */
export type HistoryFor = (owner: Owner) => Omit<History, "newest" | "watch">;

type Queue = Pick<FairQueue, "run">;

/** The past takes a turn of `pastQueue` before one of `queue`, as it may hold that for seconds. `noTimeout`: see FairQueue. */
type QueueOptions = Readonly<{ queue: Queue; pastQueue: Queue; noTimeout: boolean }>;

/** What reads the log may look at much of it, and takes turns with the searches of others. */
export function queueHistory(history: History, { queue, pastQueue, noTimeout }: QueueOptions): HistoryFor {
  return (owner) => {
    const caller = { owner, noTimeout };
    const inTurn = <Result>(work: () => Promise<Result>) => queue.run(work, caller);
    const inPastTurn = <Result>(work: () => Promise<Result>) => pastQueue.run(() => inTurn(work), caller);
    return {
      read: (query) => inTurn(() => history.read(query)),
      ofPlant: (id, query) => inPastTurn(() => history.ofPlant(id, query)),
      deleted: (query) => inPastTurn(() => history.deleted(query)),
      imports: (limit) => inPastTurn(() => history.imports(limit)),
      ofImport: (id, query) => inPastTurn(() => history.ofImport(id, query)),
    };
  };
}

import { SECONDS } from "../runtime/metrics.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { CommitTracer } from "../tracing/commit-tracer.ts";
import type { Outcome } from "./batch.ts";

/** What waits in a queue: how many changes, and for how long the oldest of them, in milliseconds. */
type Waiting = Readonly<{ changes: number; oldestMs: number }>;

/** Upper bounds for the number of changes in a commit. */
const CHANGES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] as const;

export type CommitMeter = ReturnType<typeof createCommitMeter>;

/** Measures the commits of a store, and the queues in which changes wait for them. */
export function createCommitMeter(metrics: Metrics, tracer: CommitTracer | undefined) {
  const durations = metrics.histogram({
    name: "plant_store_commit_duration_seconds",
    help: "From the start of a commit to its outcomes.",
    bounds: SECONDS,
  })();
  const sizes = metrics.histogram({ name: "plant_store_commit_changes", help: "Changes that one commit makes.", bounds: CHANGES })();
  const counted = metrics.counter({
    name: "plant_store_creates_total",
    help: "Creates that were committed, by outcome: created; same, if the plant was there; in_use, if another plant has its id.",
    labels: ["outcome"],
  });
  const creates = { created: counted("created"), same: counted("same"), in_use: counted("in_use") };
  const queues = new Set<() => Waiting>();
  const waiting = () => Array.from(queues, (queue) => queue());
  metrics.gauge({ name: "plant_store_queue_changes", help: "Changes that wait for their commit to begin." }, () =>
    waiting().reduce((sum, { changes }) => sum + changes, 0),
  );
  metrics.gauge({ name: "plant_store_queue_age_seconds", help: "How long the oldest of the changes that wait has waited." }, () =>
    Math.max(0, ...waiting().map(({ oldestMs }) => oldestMs / 1000)),
  );

  return {
    /** Includes a queue from now on, until the function that it returns is called. */
    watch(queue: () => Waiting): () => void {
      queues.add(queue);
      return () => void queues.delete(queue);
    },
    /** Undefined if nothing is traced. */
    tracer,
    /** Counts a commit: how many changes it had, the outcomes of the creates among them, and how long it took. */
    committed(changes: number, outcomes: ReadonlyArray<Outcome | Error>, ms: number): void {
      durations.observe(ms / 1000);
      sizes.observe(changes);
      for (const outcome of outcomes) if (typeof outcome === "string") creates[outcome].value += 1;
    },
  };
}

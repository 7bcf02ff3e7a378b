import { errorTypeOf, newTrace } from "./request-trace.ts";
import type { Active, Current } from "./request-trace.ts";
import { LINKS_MAX } from "./span.ts";
import type { Span } from "./span.ts";

/** Traces commits. Each is a trace of its own, linked to and from all that it serves: no request is its only parent. */
export type CommitTracer = Readonly<{
  /** What asks for a change now, if that is recorded. */
  active(): Active | undefined;
  /**
   * Called when a commit begins, with what asked for each of its changes. Returns what to call when it has ended, with
   * its failure; undefined if no one's trace has it.
   */
  begin(changes: ReadonlyArray<Active | undefined>): ((failure?: Readonly<{ reason: unknown }>) => void) | undefined;
}>;

type CommitTracerOptions = Readonly<{
  current: Current;
  /** As the semantic conventions name it. */
  database: "sqlite" | "postgresql";
  record: (span: Span) => void;
  now: () => number;
}>;

export function createCommitTracer({ current, database, record, now }: CommitTracerOptions): CommitTracer {
  return {
    active() {
      const active = current.getStore();
      return active?.trace.isRecorded ? active : undefined;
    },
    begin(changes) {
      const served = [...new Set(changes.filter((active) => active !== undefined))];
      if (served.length === 0) return undefined;
      const context = newTrace();
      const started = now();
      // Now, because no one waits forever: a request may end before its commit.
      for (const { links } of served) if (links.length < LINKS_MAX) links.push(context);
      return (failure) =>
        record({
          context,
          parent: undefined,
          name: "COMMIT",
          kind: "client",
          started,
          ended: now(),
          attributes: {
            "db.system.name": database,
            "db.operation.name": "COMMIT",
            // The conventions have no batch of one.
            ...(changes.length > 1 ? { "db.operation.batch.size": changes.length } : {}),
            ...(failure ? { "error.type": errorTypeOf(failure.reason) } : {}),
          },
          links: served.slice(0, LINKS_MAX).map((active) => active.context),
          linksDropped: Math.max(0, served.length - LINKS_MAX),
          isFailed: failure !== undefined,
        });
    },
  };
}

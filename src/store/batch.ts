import type { Owner } from "../runtime/fair-shares.ts";
import type { NewPlant } from "../domain/plant.ts";
import type { Active } from "../tracing/request-trace.ts";
import type { Swap } from "./plants.ts";
import type { TokenChange, TokenOutcome } from "./tokens.ts";

/**
 * The outcome of a create: stored now, already stored as this very plant, or refused because the id names another one.
 */
export type Outcome = "created" | "same" | "in_use";

/**
 * Changes that are committed together. No response has been sent yet, so the kinds may be applied one after the other.
 */
export type Changes = Readonly<{
  creates: readonly NewPlant[];
  swaps: readonly Swap[];
  tokens: readonly TokenChange[];
  /** Who asked for each create and each swap, in the same order. */
  creators: readonly Owner[];
  swappers: readonly Owner[];
}>;

/** One outcome for each change, in order, or why it alone failed. Kinds that an engine commits elsewhere are left out. */
export type Outcomes = Readonly<{
  creates?: ReadonlyArray<Outcome | Error>;
  swaps?: ReadonlyArray<boolean | Error>;
  tokens?: readonly TokenOutcome[];
}>;

/** Changes that one commit makes, and the state of their wait. */
export class Batch implements Changes {
  /** When the first change arrived. */
  readonly since: number;
  /** How many places in the queue the changes of each owner have. */
  readonly places = new Map<Owner, number>();
  /** Called when the changes no longer wait for their commit. */
  readonly onLeave: Array<() => void> = [];
  characters = 0;
  searched = 0;
  readonly creates: NewPlant[] = [];
  readonly swaps: Swap[] = [];
  readonly tokens: TokenChange[] = [];
  readonly creators: Owner[] = [];
  readonly swappers: Owner[] = [];
  /** Called when the commit has begun. */
  readonly onBegin: Array<() => void> = [];
  /** What of a trace each change is, if that is recorded. Empty if nothing is traced. */
  readonly traced: Array<Active | undefined> = [];
  /** What all who asked for these changes wait for. */
  readonly outcomes = Promise.withResolvers<Outcomes>();

  constructor(since: number) {
    this.since = since;
  }

  /** How many changes they are. */
  count(): number {
    return this.creates.length + this.swaps.length + this.tokens.length;
  }

  /** The commit has begun. What one caller does then must not keep the others from their outcomes. */
  begin(): void {
    for (const call of this.onBegin) {
      try {
        call();
      } catch {
        // See `whileWriting`: the caller does without it, or does it again.
      }
    }
  }
}

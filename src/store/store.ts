import type { Queue } from "../domain/contract.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import type { Log } from "../runtime/log.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { CommitTracer } from "../tracing/commit-tracer.ts";
import type { Contents } from "./contents.ts";
import type { History } from "./history.ts";
import type { PlantStore } from "./plants.ts";
import type { TokenStore } from "./tokens.ts";

/** How to open any store. */
export type OpenOptions = Readonly<{
  /** Whether it is opened to serve. Commands that only manage tokens need less. */
  isServing: boolean;
  /** How long changes are kept; 0 keeps none. */
  changesDays: number;
  queueMax: number;
  queueWaitMs: number;
  log: Log;
  metrics: Metrics;
  tracer?: CommitTracer | undefined;
}>;

export type Store = Readonly<{
  /** What it is and where, for people. Holds no secrets. */
  name: string;
  plants: PlantStore;
  tokens: TokenStore;
  history: History;
  /** Whether a change of this owner would be refused with `overloaded` now: asked before its body is read, it saves most of the work. */
  isFull(queue: Queue, owner: Owner): boolean;
  /**
   * Throws the reason when the store cannot take changes now. Returns what is missing, for people, when it can take some.
   * Reports what is known already: it costs nothing and never waits.
   */
  check(): string | undefined;
  /** All that is stored now, for a backup. It must be closed. */
  contents(): Promise<Contents>;
  /** Finishes what is under way, refuses what still waits, then releases files and connections. */
  close(): Promise<void>;
}>;

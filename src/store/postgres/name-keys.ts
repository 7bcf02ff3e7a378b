import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../domain/errors.ts";
import type { Log } from "../../runtime/log.ts";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../domain/plant.ts";
import type { NewPlant } from "../../domain/plant.ts";
import type { Execute } from "./engine/retry.ts";
import { fromColumn } from "./engine/text.ts";
import { keyColumnsOf } from "./plant-columns.ts";
import { FIND_UNKEYED, SET_KEYS } from "./order-statements.ts";

/** How many plants get their keys in one statement. */
const STEP_PLANTS = 1000;

/** The pause between steps, so that others have their turn, in milliseconds. */
const STEP_MS = 20;

/** How long one look for new plants is enough, and how long a list waits for it, in milliseconds. */
const LOOK_MS = 5000;
const LOOK_WAIT_MS = 1000;

/** The pause after a failure, in milliseconds. */
const RETRY_MS = 1000;

/** How long closing waits for the statement that runs, in milliseconds. */
const CLOSE_MS_MAX = 300;

/** How long a statement may take, in milliseconds. */
const OPTIONS = { statementMs: 20_000, isRepeatable: true } as const;

type NameKeysOptions = Readonly<{
  /** Lists wait for a look, so it must not wait for imports. */
  execute: Readonly<Record<"lists" | "imports", Execute>>;
  log: Log;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

/** Gives keys to the names that a replica of a version before wrote without one, or changed and left with an old one. */
export class NameKeys {
  readonly #options: NameKeysOptions;
  readonly #closing = new AbortController();
  #isFilled = false;
  #looked: number;
  #filling: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;

  constructor(options: NameKeysOptions) {
    this.#options = options;
    this.#looked = options.now();
    this.#startFilling(PLANT_ID_MIN);
  }

  /**
   * Called before a list by name. Rejects with `index_building` while many plants have no key yet. Later it looks for new
   * ones without a key, if the last look was a while ago: no one asks the database while no one lists by name.
   */
  async check(): Promise<void> {
    if (!this.#isFilled) throw new PlantStoreError("index_building");
    // Until the next VACUUM a look may have to pass by all that had no key before.
    if (this.#options.now() - this.#looked >= LOOK_MS) await Promise.race([this.#look(), sleep(LOOK_WAIT_MS, undefined, { ref: false })]);
  }

  /** Gives these plants the key of their name, a moment later. */
  renew(plants: readonly NewPlant[]): void {
    // What is left out meanwhile is met again.
    this.#renewing ??= this.#setKeys(plants)
      .catch((reason: unknown) => this.#fail(reason))
      .finally(() => (this.#renewing = undefined));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // A statement that waits for a server that is away is left behind: the next start gives the keys.
    await Promise.race([Promise.all([this.#filling, this.#renewing]), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
  }

  /** What is left behind at the end may fail. */
  #fail(reason: unknown): void {
    if (!this.#closing.signal.aborted) this.#options.log.warn("name_keys_behind", { reason });
  }

  async #look(): Promise<void> {
    const { execute, now } = this.#options;
    this.#looked = now();
    try {
      const next = await this.#step(PLANT_ID_MIN, execute.lists);
      // A replica of a version before may import many: no list waits for all of them.
      if (next !== undefined) this.#startFilling(next);
    } catch (reason) {
      this.#fail(reason);
    }
  }

  #startFilling(from: bigint): void {
    this.#filling ??= this.#fill(from).finally(() => (this.#filling = undefined));
  }

  /** Gives keys to all plants without one from this id on. */
  async #fill(first: bigint): Promise<void> {
    const { signal } = this.#closing;
    for (let from: bigint | undefined = first; from !== undefined && !signal.aborted;) {
      let pauseMs = STEP_MS;
      try {
        from = await this.#step(from);
      } catch (reason) {
        this.#fail(reason);
        pauseMs = RETRY_MS;
      }
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => {});
    }
    this.#isFilled = true;
  }

  /** Gives keys from this id on. Resolves with where the next step begins; undefined after the last one. */
  async #step(from: bigint, execute = this.#options.execute.imports): Promise<bigint | undefined> {
    const rows = await execute<[id: bigint, start: string]>(FIND_UNKEYED, [from, STEP_PLANTS], OPTIONS);
    await this.#setKeys(
      rows.map(([id, start]) => ({ id: asPlantId(id), name: fromColumn(start) })),
      execute,
    );
    const last = rows.at(-1)?.[0];
    return last === undefined || rows.length < STEP_PLANTS || last === PLANT_ID_MAX ? undefined : last + 1n;
  }

  async #setKeys(plants: readonly NewPlant[], execute = this.#options.execute.imports): Promise<void> {
    if (plants.length > 0) await execute(SET_KEYS, await keyColumnsOf(plants), OPTIONS);
  }
}

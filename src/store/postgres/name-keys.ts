import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../domain/errors.ts";
import { openPauses } from "../../runtime/event-loop.ts";
import type { Log } from "../../runtime/log.ts";
import { nameKey } from "../../domain/name-order.ts";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../domain/plant.ts";
import type { NewPlant } from "../../domain/plant.ts";
import type { Execute } from "./engine/retry.ts";
import { fromColumn } from "./engine/text.ts";
import { columnsOf } from "./plant-columns.ts";
import { FIND_UNKEYED, SET_KEYS } from "./order-statements.ts";

/** Gives keys to the names that a replica of a version before wrote without one, or changed and left with an old one. */
export type NameKeys = Readonly<{
  /**
   * Called before a list by name. Rejects with `index_building` while many plants have no key yet. Later it looks for new
   * ones without a key, if the last look was a while ago: nobody asks the database while nobody lists by name.
   */
  check(): Promise<void>;
  /** Gives these plants the key of their name, a moment later. */
  renew(plants: readonly NewPlant[]): void;
  close(): Promise<void>;
}>;

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
const STATEMENT_MS_MAX = 20_000;

const OPTIONS = { statementMs: STATEMENT_MS_MAX, isRepeatable: true } as const;

type NameKeysOptions = Readonly<{
  /** Lists wait for a look, so it must not wait for imports. */
  execute: Readonly<Record<"lists" | "imports", Execute>>;
  log: Log;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

export function keepNameKeys({ execute, log, now }: NameKeysOptions): NameKeys {
  const closing = new AbortController();
  let isFilled = false;
  let looked = now();
  let renewing: Promise<void> | undefined;

  /** What is left behind at the end may fail. */
  function fail(reason: unknown): void {
    if (!closing.signal.aborted) log.warn("name_keys_behind", { reason });
  }

  /** Gives keys from this id on. Resolves with where the next step begins; undefined after the last one. */
  async function step(from: bigint, run = execute.imports): Promise<bigint | undefined> {
    const rows = await run<[id: bigint, start: string]>(FIND_UNKEYED, [from, STEP_PLANTS], OPTIONS);
    await setKeys(
      rows.map(([id, start]) => ({ id: asPlantId(id), name: fromColumn(start) })),
      run,
    );
    const last = rows.at(-1)?.[0];
    return last === undefined || rows.length < STEP_PLANTS || last === PLANT_ID_MAX ? undefined : last + 1n;
  }

  async function setKeys(plants: readonly NewPlant[], run = execute.imports): Promise<void> {
    if (plants.length === 0) return;
    const [ids, names] = await columnsOf(plants);
    const keys: string[] = [];
    const pauses = openPauses();
    for (const { name } of plants) {
      keys.push(`"${nameKey(name)}"`);
      await pauses();
    }
    await run(SET_KEYS, [ids, names, `{${keys.join()}}`], OPTIONS);
  }

  /** Gives keys to all plants without one from this id on. */
  async function fill(first: bigint): Promise<void> {
    for (let from: bigint | undefined = first; from !== undefined && !closing.signal.aborted;) {
      let pauseMs = STEP_MS;
      try {
        from = await step(from);
      } catch (reason) {
        fail(reason);
        pauseMs = RETRY_MS;
      }
      await sleep(pauseMs, undefined, { ref: false, signal: closing.signal }).catch(() => {});
    }
    isFilled = true;
  }

  async function look(): Promise<void> {
    looked = now();
    try {
      const next = await step(PLANT_ID_MIN, execute.lists);
      // A replica of a version before may import many: no list waits for all of them.
      if (next !== undefined && filling === undefined) filling = fill(next).finally(() => (filling = undefined));
    } catch (reason) {
      fail(reason);
    }
  }

  let filling: Promise<void> | undefined = fill(PLANT_ID_MIN).finally(() => (filling = undefined));
  return {
    async check() {
      if (!isFilled) throw new PlantStoreError("index_building");
      // Until the next VACUUM a look may have to pass by all that had no key before.
      if (now() - looked >= LOOK_MS) await Promise.race([look(), sleep(LOOK_WAIT_MS, undefined, { ref: false })]);
    },
    renew(plants) {
      // What is left out meanwhile is met again.
      renewing ??= setKeys(plants)
        .catch(fail)
        .finally(() => (renewing = undefined));
    },
    async close() {
      closing.abort();
      // A statement that waits for a server that is away is left behind: the next start gives the keys.
      await Promise.race([Promise.all([filling, renewing]), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
    },
  };
}

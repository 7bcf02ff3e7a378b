import { setTimeout as sleep } from "node:timers/promises";
import { tokenize, wordsOfName } from "../../domain/terms.ts";
import type { Log } from "../../runtime/log.ts";
import { MEND_WRONG } from "./check-statements.ts";
import { walkPlants } from "./contents.ts";
import type { Execute } from "./engine/retry.ts";
import { SCHEMA } from "./engine/schema.ts";
import { searchableColumnsOf } from "./plant-columns.ts";

/** The pause between pages of plants, so that others have their turn, in milliseconds. */
const PAGE_MS = 20;

/** The pause after a failure, which doubles with each: a statement that can never succeed fills no log. In milliseconds. */
const RETRY_MS = 5000;
const RETRY_MS_MAX = 10 * 60_000;

/** How long closing waits for the statement that runs, in milliseconds. */
const CLOSE_MS_MAX = 300;

/** How long a statement may take, in milliseconds. */
const OPTIONS = { statementMs: 20_000, isRepeatable: true } as const;

/** Names in ASCII that begin like this have the same key in all versions and, if they have no other spellings, the same words. */
const PLAIN = /^(?!x)[a-z0-9][\0-\x7f]*$/i;

/**
 * Gives each plant the words that `wordsOfName` returns today, and the key of its name, once for each store, in the
 * background. Until then no search finds it by a word that is another today. A replica of the version before may write
 * such words later: `check` finds and mends them.
 */
export function renewWords({ execute, log }: Readonly<{ execute: Execute; log: Log }>) {
  const closing = new AbortController();

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: closing.signal }).catch(() => {});
  }

  async function renew(): Promise<void> {
    const [[areNew] = []] = await execute<[areNew: string]>(SCHEMA.areWordsNew, [], OPTIONS);
    if (areNew === "t") return;
    log.info("words_renewing");
    let renewed = 0;
    for await (const plants of walkPlants(execute)) {
      const named = plants.filter(({ name }) => !PLAIN.test(name) || wordsOfName(name).length > tokenize(name).length);
      if (named.length > 0) renewed += (await execute(MEND_WRONG, await searchableColumnsOf(named), OPTIONS)).length;
      await pause(PAGE_MS);
      if (closing.signal.aborted) return;
    }
    await execute(SCHEMA.noteWords, [], OPTIONS);
    log.info("words_renewed", { plants: renewed });
  }

  async function renewUntilDone(): Promise<void> {
    for (let failed = 0; !closing.signal.aborted; failed += 1) {
      try {
        return await renew();
      } catch (reason) {
        // What is left behind at the end may fail.
        if (!closing.signal.aborted) log.warn("words_behind", { reason });
        await pause(Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** failed));
      }
    }
  }

  const done = renewUntilDone();
  return {
    /** Leaves what is not done to the next start. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.race([done, sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
    },
  };
}

import { wordsOfSearch } from "../../src/domain/terms.ts";
import { createLog } from "../../src/runtime/log.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { askUntil } from "./until.ts";

/** Makes the tables of SQLite those of version 6, which had no log. */
export const WITHOUT_LOG = `DROP TABLE imports; ALTER TABLE changes RENAME TO later;
  CREATE TABLE changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL, total INTEGER, before TEXT) STRICT;
  INSERT INTO changes SELECT seq, ids, total, before FROM later; DROP TABLE later`;

type Options = Partial<Pick<Parameters<typeof openSqliteStore>[0], "changesDays" | "isServing" | "queueMax" | "queueWaitMs">>;

const common = () => ({ isServing: true, changesDays: 30, queueMax: 100_000, queueWaitMs: 10_000, metrics: createMetrics() });

/** Opens a store as a service does, unless the options say otherwise. `write` gets each line of its log. */
export function openSqlite(path: string, options: Options = {}, write: (line: string) => void = () => {}): Promise<Store> {
  return openSqliteStore({
    ...common(),
    ...options,
    path,
    log: createLog({ level: "error", isTerminal: false, write, now: Date.now }),
    onFatal(reason) {
      throw reason;
    },
  });
}

export function openPostgres(url: string): Promise<Store> {
  return openPostgresStore({
    ...common(),
    url,
    isNew: true,
    log: createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now }),
  });
}

/** Names that a search finds, once the index can be asked. */
export async function search(store: Store, text: string): Promise<string[]> {
  const query = { words: wordsOfSearch(text), tag: undefined, after: undefined, limit: 10, bytesMax: 10_000 };
  const page = await askUntil(
    () => store.plants.list(query).catch(() => undefined),
    (found) => found !== undefined,
  );
  return page!.plants.map(({ name }) => name);
}

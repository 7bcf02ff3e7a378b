import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import type { History } from "../../src/store/history.ts";
import type { Swap } from "../../src/store/plants.ts";
import type { Thread } from "../../src/store/sqlite/engine/thread.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import { createHistory } from "../../src/store/sqlite/history.ts";
import { prepareImportReads } from "../../src/store/sqlite/imports.ts";
import { prepareLogReads } from "../../src/store/sqlite/log-reads.ts";
import { LogScanner } from "../../src/store/sqlite/log-scan.ts";
import type { ScanLimits } from "../../src/store/sqlite/log-scan.ts";
import type { Indexer } from "../../src/store/sqlite/search/indexer.ts";

/** A store of SQLite in this thread, its history, and how many rows were read for that. */
export type CountedLog = Readonly<{
  history: History;
  rows: () => number;
  /** Makes plants of these numbers, or replaces them, in commits as an import has them. */
  importPlants(id: string, name: string, count: number): void;
  swap(swaps: readonly Swap[]): void;
  close(): void;
}>;

const COMMIT_PLANTS = 2000;

/**
 * How long a row takes, in milliseconds: the work is done in time-limited steps, and a count of it may not depend on the
 * machine. A power of two, so that sums are exact.
 */
const ROW_MS = 2 ** -7;

export function openCountedLog(path: string, limits?: Partial<ScanLimits>): CountedLog {
  const writer = new Writer(path);
  writer.keepChanges(30);
  const db = new CountedDatabase(path, { readOnly: true });
  const now = () => db.rows * ROW_MS;
  const scanner = new LogScanner(db, { now, ...limits });
  const calls: Partial<Record<keyof Indexer, (given: never) => unknown>> = {
    walkLog: (walk) => scanner.walk(walk),
    findState: (query) => scanner.findState(query),
    findStates: (query) => scanner.findStates(query),
  };
  const thread = { call: async (name: keyof Indexer, given: never) => calls[name]!(given), unref() {} } as unknown as Thread<Indexer>;
  return {
    history: createHistory({
      reader: { log: prepareLogReads(db), imports: prepareImportReads(db) },
      searcher: { whileHurried: (work) => work(thread) },
      pace: async () => {},
      watch: () => () => {},
      now,
    }),
    rows: () => db.rows,
    importPlants(id, name, count) {
      for (let at = 0; at < count; at += COMMIT_PLANTS) {
        const ids = BigInt64Array.from({ length: Math.min(COMMIT_PLANTS, count - at) }, (_, some) => BigInt(at + some));
        const names = Array.from(ids, (one) => `${name} ${one}`);
        const options = { isReplacing: true, isDryRun: false, import: id };
        writer.importPlants({ ids, names, tags: names.map(() => null) }, options, 0);
      }
    },
    swap: (swaps) => void writer.commit({ ids: new BigInt64Array(), names: [], tags: [] }, swaps, [], 0),
    close() {
      db.close();
      writer.close();
    },
  };
}

class CountedDatabase extends DatabaseSync {
  rows = 0;

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    const count = <Row>(row: Row) => {
      this.rows += 1;
      return row;
    };
    return new Proxy(statement, {
      get(target, name: keyof StatementSync) {
        const member = target[name] as unknown;
        if (typeof member !== "function") return member;
        if (name === "get") return (...given: []) => count(target.get(...given));
        if (name === "all") return (...given: []) => target.all(...given).map(count);
        if (name === "iterate") return (...given: []) => target.iterate(...given).map(count);
        return member.bind(target) as unknown;
      },
    });
  }
}

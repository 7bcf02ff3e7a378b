import type { DatabaseSync } from "node:sqlite";
import { wordsOfName } from "../../../domain/terms.ts";
import { pragma } from "../engine/requirements.ts";
import { openForLook, prepareStateRead } from "./index-file.ts";
import type { LookedAt } from "./index-file.ts";
import type { PlantRow } from "../log-row.ts";
import { tokensOf } from "./plant-tokens.ts";
import { prepareChangeReads } from "./recorded-changes.ts";

export type Comparison = ReturnType<typeof compare>;

/** Why there is nothing to compare. */
export type Incomparable = "missing" | "building" | "behind" | "of another store";

/**
 * For each of so many parts of all plants the sum of what they should have in the index, less what they have there: two
 * different sets have the same sum in one of four billion cases.
 */
const PARTS = 2 ** 16;

/** Changes that the index has not followed yet: so many are kept in memory. In plants. */
const BEHIND_MAX = 200_000;

/** Words that were found, and need not be looked for again. */
const KNOWN_MAX = 10_000;

/** Rows between two steps, and the bytes of one besides its token. */
const STEP_ROWS = 20_000;
const ROW_BYTES = 8;

/** How often the two are opened until the index is not ahead, and the pause between, in milliseconds. */
const TRIES = 100;
const PAUSE_MS = 3;

/**
 * Begins a transaction on both. The index must be the older one: then the plants know all changes that it has not followed.
 * Returns why it cannot be compared, if so. Throws if it is damaged. `plants` is in a transaction afterwards.
 */
export function openComparison(plants: DatabaseSync, path: string): Comparison | Incomparable {
  const { newest, markOf } = prepareChangeReads(plants);
  const opened = openForLook(path);
  if (!opened) {
    plants.exec("BEGIN");
    newest();
    return "missing";
  }
  const { db: index } = opened;

  function begin() {
    const readState = prepareStateRead(index);
    for (let tries = 1; ; tries += 1) {
      plants.exec("BEGIN");
      const last = newest();
      index.exec("BEGIN");
      const state = readState();
      if (state.indexed <= last || tries === TRIES) return { last, state };
      plants.exec("COMMIT");
      index.exec("COMMIT");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }

  try {
    const { state } = begin();
    const pending = state.mark === markOf(state.indexed) && state.buildFrom === null ? readPending(plants, state.indexed) : undefined;
    if (pending) return compare(opened, pending);
    index.close();
    if (state.mark !== markOf(state.indexed)) return "of another store";
    return state.buildFrom === null ? "behind" : "building";
  } catch (reason) {
    index.close();
    throw reason;
  }
}

/** Plants that changed since the index followed. Undefined if there are too many. */
function readPending(plants: DatabaseSync, indexed: number): Set<bigint> | undefined {
  const pending = new Set<bigint>();
  for (const row of plants.prepare("SELECT ids FROM changes WHERE seq > ?").iterate(indexed)) {
    const ids = row["ids"] as Uint8Array;
    for (const id of new BigInt64Array(ids.slice(0, ids.length - (ids.length % 8)).buffer)) pending.add(id);
    if (pending.size > BEHIND_MAX) return undefined;
  }
  return pending;
}

/** Compares the index with the plants of one moment. */
function compare({ db: index, isUntouched }: LookedAt, pending: ReadonlySet<bigint>) {
  const sums = new Int32Array(PARTS);
  // One in four billion others is left out too, on both sides.
  const pendingHashes = new Set(Array.from(pending, hashOfId));
  const words = lookUpWords(index);
  let failure: unknown;
  index.exec("CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, names, instance)");
  // Halves of an id are numbers, which are ten times as fast as bigints.
  const tokens = index.prepare("SELECT term, doc & 4294967295 AS low, doc >> 32 AS high FROM tokens");

  return {
    /** Call it with each plant. */
    add(plant: PlantRow): void {
      const plantHash = hashOfId(plant.id);
      if (failure !== undefined || pendingHashes.has(plantHash)) return;
      const found = wordsOfName(plant.name);
      try {
        found.forEach(words.lookUp);
      } catch (reason) {
        failure = reason;
      }
      const part = plantHash & (PARTS - 1);
      for (const token of tokensOf(plant, found)) sums[part]! += hashOf(token, plantHash);
    },
    /** What is wrong with the file of the index itself. */
    damage(): string | undefined {
      const found = pragma(index, "PRAGMA integrity_check(1)");
      return found === "ok" ? undefined : String(found);
    },
    /** Reads the index. Yields now and then, with the bytes that were read. */
    *read(): Generator<number, void, void> {
      if (failure !== undefined) throw failure;
      let rows = 0;
      let bytes = 0;
      for (const { term, low, high } of tokens.iterate() as Iterable<{ term: string; low: number; high: number }>) {
        rows += 1;
        bytes += term.length + ROW_BYTES;
        const plantHash = hashOfHalves(low, high);
        if (!pendingHashes.has(plantHash)) sums[plantHash & (PARTS - 1)]! -= hashOf(term, plantHash);
        if (rows % STEP_ROWS > 0) continue;
        yield bytes;
        bytes = 0;
      }
    },
    /** How many words or plants, at least, the index has not as they are; undefined if someone has used it since. */
    wrong: () => (isUntouched() ? Math.max(words.missing(), sums.filter((sum) => sum !== 0).length) : undefined),
    close: () => index.close(),
  };
}

/** Counts words that the index should have, and has not. */
function lookUpWords(index: DatabaseSync) {
  const find = index.prepare("SELECT 1 FROM words WHERE word = ?");
  const known = new Set<string>();
  let missing = 0;
  return {
    lookUp(word: string): void {
      if (known.has(word)) return;
      if (!find.get(word)) missing += 1;
      if (known.size >= KNOWN_MAX) known.clear();
      known.add(word);
    },
    missing: () => missing,
  };
}

/** MurmurHash3's last step, which spreads each bit. */
function spread(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2_b2_ae_35);
  return mixed ^ (mixed >>> 16);
}

function hashOfId(id: bigint): number {
  return hashOfHalves(Number(BigInt.asUintN(32, id)), Number(id >> 32n));
}

function hashOfHalves(low: number, high: number): number {
  return spread(spread(low | 0) ^ (high | 0));
}

/** FNV-1a of a token, for one plant. */
function hashOf(token: string, plantHash: number): number {
  let hash = plantHash ^ 0x81_1c_9d_c5;
  for (let at = 0; at < token.length; at += 1) hash = Math.imul(hash ^ token.charCodeAt(at), 0x01_00_01_93);
  return spread(hash);
}

import { DatabaseSync } from "node:sqlite";
import { describeFailure } from "../../runtime/system-failure.ts";
import { look, lookAtTokens, someOf } from "../check.ts";
import type { CheckStep, FirstTokenFile, Look } from "../check.ts";
import { sizeOf } from "../page.ts";
import { prepareBigInts } from "./engine/requirements.ts";
import { isDamage, isSqlError, isSqliteFailure } from "./engine/failure.ts";
import { expectOurs, findSchemaFault, isCurrent, schemaVersion } from "./engine/schema.ts";
import { TOTAL } from "./search/changes.ts";
import { openComparison } from "./search/comparison.ts";
import type { Comparison, Incomparable } from "./search/comparison.ts";
import { checkLog } from "./log-check.ts";
import type { PlantRow } from "./log-row.ts";
import { prepareTokenReads } from "./tokens.ts";

/** A part of a Worker: the steps of a check, one a call. */
export class Checker {
  readonly #path: string;
  #steps: ReturnType<typeof checkDatabase> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  begin(firstToken: FirstTokenFile): void {
    this.#steps = checkDatabase(this.#path, firstToken);
  }

  /** The next step; undefined after the last one. */
  next(): CheckStep | undefined {
    return this.#steps?.next().value ?? undefined;
  }

  close(): void {
    this.#steps?.return();
  }
}

const STEP_PLANTS = 5000;
const FAULTS_MAX = 100;

/** Looks at a database and its index. It only reads, so no one waits for it. */
export function* checkDatabase(path: string, firstToken: FirstTokenFile): Generator<CheckStep, void, void> {
  using db = new DatabaseSync(path, { readOnly: true, timeout: 1000 });
  try {
    const schema = checkSchema(db);
    yield schema;
    if (schema.state === "damaged") return;
    const pages = checkPages(db);
    yield pages;
    if (pages.state === "damaged" || !isCurrent(db)) return;
    yield lookAtTokens(prepareTokenReads(db).listRows(), firstToken);
    yield* checkPlants(db, path);
  } catch (reason) {
    if (isDamage(reason)) yield look("pages", "damaged", `${path} cannot be read: ${describeFailure(reason)}.`);
    else throw isSqliteFailure(reason) ? toRefusal(path, reason) : reason;
  }
}

/** Throws if it is no store of this version or one before. */
function checkSchema(db: DatabaseSync): Look {
  expectOurs(db);
  const fault = findSchemaFault(db);
  if (fault === "indexes") return look("tables", "wrong", "an index is missing");
  if (fault === "tables") return look("tables", "damaged", `they are not those of version ${schemaVersion(db)}`);
  if (isCurrent(db)) return look("tables", "ok", `version ${schemaVersion(db)}`);
  return look("tables", "note", `version ${schemaVersion(db)}, which the next start brings up to date: check again after it`);
}

/** For people: what no damage is the cause of, such as a lock, or a folder in which SQLite may not make its files. */
function toRefusal(path: string, cause: Error): Error {
  const why = "run this as a user who may write in its folder, with room on the disk, while no other program locks it";
  return new Error(`${path} cannot be checked now (${describeFailure(cause)}): ${why}. The plants may be fine.`, { cause });
}

/**
 * What SQLite says of an index, or of pages that nothing uses. All else is about what only the tables have. So is an index
 * that lacks no row of its table, and has more: tokens may be lost, because a page of them is an older one. Lost plants
 * show only in their count.
 */
const OF_INDEX =
  /^(?:row \d+ missing from index|wrong # of entries in index|row \d+ values differ from index|rowid not at end-of-record for row \d+ of index) /;
const WRONG_NUMBER = /^wrong # of entries in index (.+)$/;
const OF_FREE_PAGES = /^(?:Freelist: |Page \d+: never used|free-page count in header is too small)/;

function checkPages(db: DatabaseSync): Look {
  // Tokens by themselves: one damaged page of another index can have so many faults that SQLite tells no others.
  const rows = ["tokens", FAULTS_MAX].flatMap((what) => db.prepare(`PRAGMA integrity_check(${what})`).all());
  const lines = rows.flatMap(({ integrity_check: text }) => String(text).split("\n"));
  const faults = [...new Set(lines)].filter((line) => line !== "ok" && !line.startsWith("*** in "));
  if (faults.length === 0) return look("pages", "ok", "every page, row and index of plants.db");
  const indexes = db.prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'index'").all();
  const roots = new Set(indexes.map(({ rootpage }) => String(rootpage)));
  const isOfShorterTable = (fault: string) => {
    const index = WRONG_NUMBER.exec(fault)?.[1];
    return index !== undefined && !faults.some((other) => other.endsWith(` missing from index ${index}`));
  };
  const isMendable = (fault: string) =>
    (OF_INDEX.test(fault) && !isOfShorterTable(fault)) || OF_FREE_PAGES.test(fault) || roots.has(/^Tree (\d+) /.exec(fault)?.[1] ?? "");
  return look("pages", faults.every(isMendable) ? "wrong" : "damaged", `plants.db: ${someOf(faults)}`);
}

const INCOMPARABLE: Readonly<Record<Incomparable, string>> = {
  missing: "there is none of this version: a running service builds it",
  building: "is being built: check again when searches work",
  behind: "follows many changes: check again later",
  "of another store": "is of another database: the next start rebuilds it",
};

/** Looks at each plant and at the index, as they are at one moment. */
function* checkPlants(db: DatabaseSync, path: string): Generator<CheckStep, void, void> {
  const opened = openIndex(db, path);
  const index = typeof opened === "object" && "add" in opened ? opened : undefined;
  try {
    yield* scanPlants(db, index);
    if (index) yield* checkIndex(index);
    else yield typeof opened === "string" ? look("search", "note", INCOMPARABLE[opened]) : (opened as Look);
  } finally {
    index?.close();
  }
}

function openIndex(db: DatabaseSync, path: string): Comparison | Incomparable | Look {
  try {
    return openComparison(db, `${path}.search`);
  } catch (reason) {
    if (!db.isTransaction) db.exec("BEGIN");
    return indexDamage(reason);
  }
}

/** Throws what is not about the file of the index. One that lacks a table fails as wrong SQL does. */
function indexDamage(reason: unknown): Look {
  if (!isSqliteFailure(reason)) throw reason;
  const isWrong = isDamage(reason) || isSqlError(reason);
  return look("search", isWrong ? "wrong" : "note", `plants.db.search cannot be read${isWrong ? "" : " now"}: ${describeFailure(reason)}`);
}

function* scanPlants(db: DatabaseSync, index: Comparison | undefined): Generator<CheckStep, void, void> {
  const statement = prepareBigInts(db, "SELECT id, name, tag, added FROM plants ORDER BY id");
  let plants = 0;
  let bytes = 0;
  for (const plant of statement.iterate() as Iterable<PlantRow>) {
    index?.add(plant);
    plants += 1;
    bytes += sizeOf(plant);
    if (plants % STEP_PLANTS > 0) continue;
    yield { kind: "progress", bytes };
    bytes = 0;
  }
  yield { kind: "progress", bytes };
  yield* checkLog(db);
  const counted = Number(db.prepare(`SELECT ${TOTAL} AS plants`).get()?.["plants"]);
  // A commit has the count and the plants: one that counts more has lost plants.
  if (counted !== plants)
    yield look("count", counted > plants ? "damaged" : "wrong", `the store counts ${counted} plants, and there are ${plants}`);
  yield look("plants", "ok", `${plants}`);
}

function* checkIndex(index: Comparison): Generator<CheckStep, void, void> {
  let damage: string | undefined;
  try {
    damage = index.damage();
    for (const bytes of index.read()) yield { kind: "progress", bytes };
  } catch (reason) {
    yield indexDamage(reason);
    return;
  }
  const wrong = index.wrong();
  if (wrong === undefined) yield look("search", "note", "a service has begun to use the index meanwhile: check again");
  else if (damage !== undefined) yield look("search", "wrong", `plants.db.search: ${damage}`);
  else if (wrong === 0) yield look("search", "ok", "the index has every plant as it is");
  else yield look("search", "wrong", `the index has ${wrong} or more plants not as they are`);
}

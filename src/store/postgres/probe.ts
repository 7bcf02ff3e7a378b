import { PlantStoreError } from "../../domain/errors.ts";
import type { Log } from "../../runtime/log.ts";
import { asPlantId, PLANT_ID_MIN, toText } from "../../domain/plant.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { judge } from "./engine/failure.ts";
import type { Database, Statement } from "./engine/pool.ts";
import { UnfitError } from "./engine/requirements.ts";
import type { Execute } from "./engine/retry.ts";
import { LOGGED_HERE } from "./change-statements.ts";
import { columnsOf, toPlant } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { list } from "./plant-lists.ts";
import { CONFIRM_PLANTS, FIND_PLANTS } from "./plant-statements.ts";
import { openLoggedTable } from "./plant-tables.ts";
import type { ChangedIds } from "./plant-tables.ts";
import { beginTransaction } from "./transaction.ts";

/** No one else sees the plants of the probe: its transaction is rolled back. */
export const PROBE_BEGIN = { text: "BEGIN" } as const satisfies Statement;
const PROBE_END = { text: "ROLLBACK" } as const satisfies Statement;

/** The last plant of all. */
const LAST = { limit: 1, bytesMax: 1, after: undefined, tag: undefined, words: [], descending: true } as const;

/** One in each part of the key space, so that shards by range or by hash all get some. */
const PLANTS = 32n;
const SPACING = 2n ** 64n / PLANTS;

const ONCE = { isRepeatable: false } as const;

/** What was seen is not what a statement promises. */
class Mismatch extends Error {}

type ProbeOptions = Readonly<{
  name: string;
  /** Whether changes are logged. */
  isLogged: boolean;
  random: () => number;
  log: Log;
}>;

/**
 * Shows that the statements of the store do here what they do in PostgreSQL: not so behind a router that writes each
 * plant to every shard, or with a trigger on the table. Throws an UnfitError that says what was seen. A database that
 * takes no changes now is left alone: the service says so itself.
 */
export async function probe(database: Database, { name, isLogged, random, log }: ProbeOptions): Promise<void> {
  try {
    const { execute, close } = await beginTransaction(database, [PROBE_BEGIN]);
    try {
      await tryStatements(execute, { isLogged, random });
      await execute(PROBE_END, [], ONCE);
      // Its ids stay in the index, many of them above all plants: below them, PostgreSQL leaves each page of rising ids
      // half empty. Who reads past them marks them as free. If that fails, as behind a pooler, the service works all the same.
      await list(execute, LAST).catch(() => {});
    } finally {
      close();
    }
  } catch (reason) {
    const thrown = reason instanceof PlantStoreError && reason.cause !== undefined ? reason.cause : reason;
    if (isTransientRefusal(thrown)) return log.warn("probe_failed", { reason: thrown });
    const seen = (thrown instanceof Error ? thrown.message : String(thrown)).replace(/\.$/, "");
    throw new UnfitError(
      `${name} does not do what the store relies on. A probe that leaves nothing behind saw: ${seen}. ` +
        "Connect to PostgreSQL itself, as a user that may write, without a router that changes statements, and without triggers on plants.",
      { cause: thrown },
    );
  }
}

/** Whether the database may do it later: it is away, read-only, full or slow now. */
function isTransientRefusal(thrown: unknown): boolean {
  if (thrown instanceof Mismatch) return false;
  const { error, isTransient } = judge(thrown);
  return isTransient || (error !== undefined && error.code !== "store_unavailable");
}

async function tryStatements(execute: Execute, { isLogged, random }: Pick<ProbeOptions, "isLogged" | "random">): Promise<void> {
  const mark = `probe${Math.floor(random() * 2 ** 48).toString(36)}`;
  const ids = Array.from({ length: Number(PLANTS) }, (_, at) => idIn(at, random));
  // With what a trigger might trim, fold, normalize or cut.
  const plantsOf = (version: string): NewPlant[] =>
    ids.map((id, at) => ({ id, name: ` ${mark} ${version}\0 Ä\u0308ß ${at} `, tag: ` ${mark}É ` }));
  const [first, second, third] = [plantsOf("first"), plantsOf("second"), plantsOf("third")];

  const table = openLoggedTable(() => isLogged)(execute, ONCE);
  const origin = { by: (id: PlantId) => `${mark} ${id}`, import: mark };
  const write = async (rows: Promise<ChangedIds>) => (await rows).map(([id]) => asPlantId(id));
  const swap = (from: NewPlant[], to: NewPlant[]) =>
    table.update(
      from.map((plant, at) => ({ id: plant.id, from: plant, to: to[at]! })),
      origin,
    );
  const find = async () => (await execute<PlantRow>(FIND_PLANTS, [ids], ONCE)).map(toPlant);
  const inOrder = async (query: object) =>
    (await list(execute, { limit: ids.length + 1, bytesMax: 2 ** 20, after: undefined, tag: undefined, words: [], ...query })).plants;

  expectIds("written", await write(table.insert(first, origin)), ids);
  expectPlants("written", await find(), first);
  expectList("by word", await inOrder({ words: [{ anyOf: [mark] }] }), first);
  expectIds("written again", await write(table.insert(second, origin)), []);
  expectPlants("written again", await find(), first);
  expectIds("confirmed", await write(execute(CONFIRM_PLANTS, await columnsOf(first), ONCE)), ids);
  expectIds("changed", await write(swap(first, second)), ids);
  expectIds("changed from what they no longer were", await write(swap(first, third)), []);
  expectPlants("changed", await find(), second);
  expectIds("changed again", await write(swap(second, third)), ids);
  expectPlants("changed again", await find(), third);
  expectList("by tag", await inOrder({ tag: first[0]!.tag }), third);
  expectList("by word", await inOrder({ words: [{ anyOf: [mark] }] }), third);
  for (const plant of third) expectList("by id", await inOrder({ after: plant.id - 1n, limit: 1 }), [plant]);
  expectIds("deleted", await write(table.remove(third, origin)), ids);
  expectPlants("deleted", await find(), []);
  if (isLogged) expectLog(await execute<[kind: string, changed: bigint]>(LOGGED_HERE, [], ONCE));
}

function expectLog(rows: ReadonlyArray<[kind: string, changed: bigint]>): void {
  const logged = rows.map(([kind, changed]) => `${changed} ${kind}`).join();
  const expected = ["created", "replaced", "replaced", "deleted"].map((kind) => `${PLANTS} ${kind}`).join();
  if (logged !== expected) throw new Mismatch(`of the changes ${expected}, these were logged: ${logged}.`);
}

/** A random id in one of PLANTS parts of the key space. Never the least of them: the probe lists what comes after one less. */
function idIn(part: number, random: () => number): PlantId {
  return asPlantId(PLANT_ID_MIN + BigInt(part) * SPACING + 1n + BigInt(Math.floor(random() * 2 ** 50)) * 2n ** 8n);
}

function expectIds(what: string, ids: readonly PlantId[], expected: readonly PlantId[]): void {
  const isSame = ids.length === expected.length && expected.every((id) => ids.includes(id));
  if (!isSame) throw new Mismatch(`of ${PLANTS} plants that were ${what}, ${ids.length} were reported instead of ${expected.length}.`);
}

function expectPlants(what: string, plants: readonly NewPlant[], expected: readonly NewPlant[]): void {
  const found = plants.map(toText);
  if (found.length !== expected.length)
    throw new Mismatch(`after ${PLANTS} plants were ${what}, ${found.length} were found instead of ${expected.length}.`);
  const missing = expected.map(toText).find((text) => !found.includes(text));
  if (missing !== undefined) throw new Mismatch(`after ${PLANTS} plants were ${what}, ${missing} was not found.`);
}

function expectList(how: string, plants: readonly NewPlant[], expected: readonly NewPlant[]): void {
  if (plants.map(toText).join() === expected.map(toText).join()) return;
  throw new Mismatch(`of ${expected.length} plants that were to be listed ${how}, in order, ${plants.length} were, or in another order.`);
}

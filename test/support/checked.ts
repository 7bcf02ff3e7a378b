import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { hashFirstToken } from "../../src/auth/first-token.ts";
import { nameKey } from "../../src/domain/name-order.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { look } from "../../src/store/check.ts";
import type { Look } from "../../src/store/check.ts";
import { checkDatabase } from "../../src/store/sqlite/database-check.ts";
import { findFilesFault } from "../../src/store/sqlite/engine/files.ts";
import type { Store } from "../../src/store/store.ts";
import { wordsOfName } from "../../src/domain/terms.ts";
import { runInside } from "./command.ts";
import { runCommand } from "./process.ts";
import type { CommandOptions } from "./process.ts";
import { openSqlite } from "./stores.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { until } from "./until.ts";

/** Runs `plant-store check`: in this process, unless another user does. */
export function runCheck(words: readonly string[], options: CommandOptions = {}) {
  return options.user === undefined ? runInside(["check", ...words], options.environment) : runCommand(["check", ...words], options);
}

/** Opens a store as a service does. */
export function openServed(folder: string): Promise<Store> {
  return openSqlite(join(folder, "plants.db"));
}

const GENERA = ["Monstera", "Ficus", "Ginkgo", "Acer", "Quercus"];

/** Creates plants, and waits until the index has them. */
export async function fill(store: Store, first: number, count: number): Promise<void> {
  const plants = Array.from({ length: count }, (_, at) => ({
    id: asPlantId(BigInt((first + at) * 3 - 500)),
    name: `${GENERA[at % 5]} sort ${first + at} "x'`,
    ...(at % 3 === 0 ? {} : { tag: GENERA[at % 4]! }),
  }));
  await Promise.all(plants.map((plant) => store.plants.create(plant)));
  await until("The index has the plants", async () => (await countInOrder(store, ["sort", String(first + count - 1)])) === 1);
}

/** The index follows all changes for a list in an order, but not for one by id. */
async function countInOrder({ plants }: Store, words: readonly string[]): Promise<number | undefined> {
  const query = {
    words: words.map((word) => ({ anyOf: [word] })),
    tag: undefined,
    order: "name",
    after: undefined,
    limit: 1000,
    bytesMax: 1_000_000,
  } as const;
  const page = await plants.listOrdered(query).catch(() => undefined);
  return page?.plants.length;
}

/** Renames and deletes some of these plants, and waits until the index knows. */
async function change(store: Store, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => asPlantId(BigInt(at * 3 - 500)));
  const plants = await Promise.all(ids.map((id) => store.plants.find(id)));
  await Promise.all(
    plants.map((from, at) => store.plants.compareAndSwap({ from, to: at % 2 === 0 ? undefined : { id: ids[at]!, name: `renamed ${at}` } })),
  );
  await until("The index has the changes", async () => (await countInOrder(store, ["renamed"])) === Math.floor(count / 2));
}

/** A stopped store with plants and tokens, whose index has all of them. */
export async function makeStore(plants = 2000): Promise<string> {
  const folder = temporaryFolder();
  const store = await openServed(folder);
  for (let at = 0; at < 5; at += 1) {
    const token = { id: `token${at}`, name: `token ${at}`, scopes: ["plants:read", "admin"] as const, created: 1_700_000_000_000 };
    await store.tokens.create(token, String(at).repeat(64));
  }
  await fill(store, 0, plants);
  await change(store, plants / 10);
  await store.close();
  return folder;
}

export function copyStore(folder: string): string {
  const target = join(temporaryFolder(), "data");
  mkdirSync(target);
  for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(target, name));
  return target;
}

/** What a check says of each part that is not as it should be, without a process and a thread. */
export function faultsOf(folder: string): readonly Look[] {
  const path = join(folder, "plants.db");
  const file = join(folder, "first-token");
  const fault = findFilesFault(path);
  if (fault) return [look("files", "damaged", fault.message)];
  try {
    return [...checkDatabase(path, { file, hash: hashFirstToken(file) })]
      .filter((step) => step.kind === "look")
      .filter(({ state }) => state !== "ok");
  } catch (reason) {
    return [look("tables", "damaged", String(reason))];
  }
}

/** Parts and states of what is not as it should be, for an expectation. */
export function statesOf(folder: string): readonly string[] {
  return faultsOf(folder).map(({ part, state }) => `${part} ${state}`);
}

/**
 * All that a store holds, as far as a check can know it: nothing says that a letter was a small one, or what a token is
 * called.
 */
export function contentsOf(folder: string): string {
  const db = new DatabaseSync(join(folder, "plants.db"), { readOnly: true });
  try {
    const plants = db.prepare("SELECT id, name, tag, added FROM plants ORDER BY id");
    plants.setReadBigInts(true);
    const rows = plants.all() as { id: bigint; name: string; tag: string | null; added: bigint }[];
    const tokens = db.prepare("SELECT id, hash, scopes, parent FROM tokens ORDER BY id").all();
    return JSON.stringify([rows.map(({ id, name, tag, added }) => [`${id}`, nameKey(name), wordsOfName(name), tag, `${added}`]), tokens]);
  } finally {
    db.close();
  }
}

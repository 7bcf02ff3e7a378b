import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import type { Store } from "../../src/store/store.ts";
import { wordsOfSearch } from "../../src/domain/terms.ts";
import { runOn } from "../support/backups.ts";
import { openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { askUntil } from "../support/until.ts";

const plantOf = (id: number, name: string): NewPlant => ({ id: asPlantId(BigInt(id)), name });

function read(path: string, sql: string): Record<string, unknown>[] {
  using db = new DatabaseSync(path, { readOnly: true });
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}

function execute(path: string, sql: string): void {
  using db = new DatabaseSync(path);
  db.exec(sql);
}

const ALL = { before: undefined, limit: 1000 };
const follow = (store: Store, after: string | undefined) => store.history.read({ after, limit: 1000, tag: undefined });

/** Names that a search finds, once the index can be asked. */
async function search(store: Store, text: string): Promise<string[]> {
  const query = { words: wordsOfSearch(text), tag: undefined, after: undefined, limit: 10, bytesMax: 10_000 };
  const page = await askUntil(
    () => store.plants.list(query).catch(() => undefined),
    (found) => found !== undefined,
  );
  return page!.plants.map(({ name }) => name);
}

describe("plant-store changes forget", () => {
  /** A served store in which plant 1 was something else twice, and plant 2 once. */
  async function makeStore() {
    const data = temporaryFolder();
    const store = await openSqlite(join(data, "plants.db"));
    const names = ["Quercus robur", "Quercus petraea", "Acer"];
    await store.plants.create(plantOf(1, names[0]!));
    await store.plants.create(plantOf(2, "Fagus"));
    await store.plants.compareAndSwap({ from: plantOf(1, names[0]!), to: plantOf(1, names[1]!) });
    await store.plants.compareAndSwap({ from: plantOf(2, "Fagus"), to: undefined });
    await store.plants.compareAndSwap({ from: plantOf(1, names[1]!), to: plantOf(1, names[2]!) });
    await search(store, "acer");
    return { data, store };
  }

  it("erases what a plant was beside a service, and leaves that it changed, and other plants", async () => {
    const { data, store } = await makeStore();
    const after = (await follow(store, undefined)).changes[0]!.cursor;
    const forget = await runOn({ data }, ["changes", "forget", "1", "--json"]);
    expect(forget).toMatchObject({ status: 0, stdout: '{"erased":2}\n', stderr: "" });
    const { changes } = await store.history.ofPlant(asPlantId(1n), ALL);
    expect(changes.map(({ kind, from, to, isForgotten }) => [kind, from, to?.name, isForgotten])).toEqual([
      ["replaced", undefined, "Acer", true],
      ["replaced", undefined, undefined, true],
      ["created", undefined, undefined, true],
    ]);
    expect((await store.history.deleted(ALL)).changes.map(({ from }) => from?.name)).toEqual(["Fagus"]);
    // A listener of a tag may have had it.
    const ofTag = await store.history.read({ after, limit: 10, tag: "oak" });
    expect(ofTag.changes.map(({ id, isForgotten }) => [Number(id), isForgotten])).toEqual([
      [1, true],
      [1, true],
    ]);
    expect(await search(store, "quercus")).toEqual([]);
    expect((await runOn({ data }, ["changes", "forget", "1"])).stdout).toBe("No change has what plant 1 was.\n");
    await store.close();
    // The plants themselves had it without these quotes.
    expect(readFileSync(join(data, "plants.db"), "latin1").includes('"Quercus')).toBe(false);
  });

  it("erases nothing while the index needs it, and says what to do", async () => {
    const { data, store } = await makeStore();
    await store.close();
    const path = join(data, "plants.db");
    execute(`${path}.search`, "UPDATE state SET changes = 1, mark = 'x'");
    const at = read(path, "SELECT at FROM changes WHERE seq = 1")[0]!["at"];
    const mark = createHash("sha256").update(String(at)).digest("hex");
    execute(`${path}.search`, `UPDATE state SET mark = '${mark}'`);
    const forget = await runOn({ data }, ["changes", "forget", "1"]);
    expect(forget).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("start the service if it does not run") });
    expect(read(path, "SELECT before FROM changes").filter(({ before }) => String(before).includes("Quercus")).length).toBe(2);
  });

  it("has an older copy of the index made again, which would not know what to forget", async () => {
    const { data, store } = await makeStore();
    const path = join(data, "plants.db");
    await store.close();
    copyFileSync(`${path}.search`, `${path}.copy`);
    const again = await openSqlite(path);
    await again.plants.compareAndSwap({ from: plantOf(1, "Acer"), to: plantOf(1, "Betula") });
    await search(again, "betula");
    await again.close();
    expect((await runOn({ data }, ["changes", "forget", "1"])).stdout).toBe("Erased what plant 1 was before 3 changes.\n");
    copyFileSync(`${path}.copy`, `${path}.search`);
    const last = await openSqlite(path);
    expect([await search(last, "acer"), await search(last, "betula")]).toEqual([[], ["Betula"]]);
    await last.close();
    expect((await runOn({ data }, ["check"])).status).toBe(0);
  });

  it("takes only the id of a plant, also a negative one", async () => {
    const { data, store } = await makeStore();
    await store.close();
    expect((await runOn({ data }, ["changes", "forget", "x"])).stderr).toContain("Use the id of a plant");
    const negative = await runOn({ data }, ["changes", "forget", "--", "-9223372036854775808"]);
    expect(negative).toMatchObject({ status: 1 });
  });
});

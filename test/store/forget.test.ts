import { hash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { runOn } from "../support/backups.ts";
import { readOn } from "../support/history-pages.ts";
import { plantOf } from "../support/plant.ts";
import { execute, read } from "../support/sqlite-file.ts";
import { openSqlite, search } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ALL = { before: undefined, limit: 1000 };

describe("plant-store changes forget", () => {
  /** A served store in which plant 1 was something else twice, and plant 2 once. */
  async function makeStore() {
    const data = temporaryFolder();
    const store = await openSqlite(join(data, "plants.db"));
    const [robur, petraea, fagus] = [plantOf(1, "Quercus robur"), plantOf(1, "Quercus petraea"), plantOf(2, "Fagus")];
    await store.plants.create(robur);
    await store.plants.create(fagus);
    await store.plants.compareAndSwap({ from: robur, to: petraea });
    await store.plants.compareAndSwap({ from: fagus, to: undefined });
    await store.plants.compareAndSwap({ from: petraea, to: plantOf(1, "Acer") });
    await search(store, "acer");
    return { data, store };
  }

  it("erases what a plant was beside a service, and leaves that it changed, and other plants", async () => {
    const { data, store } = await makeStore();
    const after = (await readOn(store)).changes[0]!.cursor;
    const forget = await runOn({ data }, ["changes", "forget", "1", "--json"]);
    expect(forget).toMatchObject({ status: 0, stdout: '{"erased":2}\n', stderr: "" });
    const { changes } = await store.history.ofPlant(plantOf(1).id, ALL);
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
    const at = read(path, "SELECT at FROM changes WHERE seq = 1")[0]!["at"];
    execute(`${path}.search`, `UPDATE state SET changes = 1, mark = '${hash("sha256", String(at))}'`);
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
    expect(await runOn({ data }, ["changes", "forget", "--", "-9223372036854775808"])).toMatchObject({ status: 1 });
  });
});

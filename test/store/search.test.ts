import { cpSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "bun:test";
import { expectConform } from "../support/conform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken, startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

/** Not a bug: each step of the index reads for longer than a store waits for another process. */
const SLOW_STEP = [
  {
    file: "src/store/sqlite/search/indexer.ts",
    from: 'plants.exec("BEGIN");',
    to: 'plants.exec("BEGIN"); this.#recorded.newest(); Bun.sleepSync(1500);',
  },
];

const LIST = { method: "get", path: "/plants" };

/** Searches until this many plants are found. Until then, responses are partial, or 503 asking to try again. */
async function searchUntil(ask: (path: string) => Promise<Response>, q: string, count: number): Promise<number[]> {
  async function search(): Promise<number[] | undefined> {
    const response = await ask(`/plants?limit=1000&q=${encodeURIComponent(q)}`);
    const body = await expectConform(LIST, response);
    if (response.status !== 503) return (body as { id: number }[]).map(({ id }) => id);
    expect([50300, 50301, 50304]).toContain((body as { error: number }).error);
    return undefined;
  }
  return (await askUntil(search, (ids) => ids !== undefined && ids.length >= count)) ?? [];
}

describe("a plant that was answered before kill -9", () => {
  it("is found, and no changed or deleted one is found as it was before, 3 times", async () => {
    const data = temporaryFolder();
    for (let round = 1; round <= 3; round += 1) {
      const service = await startProcess({ data, flags: PATIENT });
      const headers = { authorization: `Bearer ${await readToken(data)}` };
      const ask = (path: string) => fetch(`${service.url}${path}`, { headers });
      const send = async (method: string, path: string, body?: string) => {
        const response = await fetch(`${service.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
        expect(response.ok).toBe(true);
      };
      expect(await (await ask("/plants/count")).json()).toEqual({ plants: 2 * (round - 1), precision: "exact" });
      for (let before = 1; before < round; before += 1) {
        expect(await searchUntil(ask, `created${before}x`, 1)).toEqual([before * 10]);
        expect(await searchUntil(ask, `changed${before}x`, 1)).toEqual([before * 10 + 1]);
        expect(await searchUntil(ask, `first${before}x`, 0)).toEqual([]);
      }
      for (const id of [1, 2]) await send("POST", "/plants", `{"id":${round * 10 + id},"name":"first${round}x"}`);
      if (round % 2 === 0) await searchUntil(ask, `first${round}x`, 2);
      await send("DELETE", `/plants/${round * 10 + 2}`);
      await send("PATCH", `/plants/${round * 10 + 1}`, `{"name":"changed${round}x"}`);
      await send("POST", "/plants", `{"id":${round * 10},"name":"created${round}x"}`);
      await service.end("SIGKILL");
    }
  });
});

it("a start while a step of the index is slow does not mistake its own search thread for another process", async () => {
  const root = plantBugs(SLOW_STEP);
  const data = temporaryFolder();
  // On a busy machine the step may begin too late to be in the way.
  for (let start = 0; start < 3; start += 1) await (await startProcess({ data, root })).end("SIGKILL");
});

it("a search that begins after a create was answered finds it, and not its old name, also beside an import", async () => {
  const [CLIENTS, CREATES, IMPORTED] = [8, 10, 15_000];
  const { request: ask, stop } = await startTestService();
  const missed: string[] = [];

  async function expectFound(word: string, ids: readonly number[]): Promise<void> {
    const response = await askUntil(
      () => ask(`/plants?q=${word}`),
      ({ status }) => status !== 503,
    );
    expect(response.status).toBe(200);
    const found = ((await response.json()) as { id: number }[]).map(({ id }) => id);
    if (!Bun.deepEquals(found, ids)) missed.push(word);
  }
  async function create(client: number): Promise<void> {
    for (let at = 0; at < CREATES; at += 1) {
      const id = client * CREATES + at;
      await ask("/plants", { method: "POST", body: `{"id":${id},"name":"Tilia new${id}x"}` });
      await expectFound(`new${id}x`, [id]);
      await ask(`/plants/${id}`, { method: "PATCH", body: `{"name":"Tilia other${id}x"}` });
      await expectFound(`other${id}x+til`, [id]);
      await expectFound(`new${id}x`, []);
    }
  }
  const lines = Array.from({ length: IMPORTED }, (_, at) => `{"id":${1_000_000 + at},"name":"Monstera m${at}"}\n`).join("");
  const imported = ask("/plants/import", { method: "POST", body: lines });
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => create(client)));
  expect((await imported).status).toBe(200);
  await stop();
  expect(missed).toEqual([]);
});

describe("an index of names", () => {
  const PLANTS = 300;

  /** The folder of a stopped service, with 300 indexed plants. */
  const prepared = temporaryFolder();
  beforeAll(async () => {
    const service = await startTestService({ data: prepared });
    const body = Array.from({ length: PLANTS }, (_, id) => `{"id":${id},"name":"Ficus ${"abcdefghij"[id % 10]}${id}"}`).join("\n");
    expect((await service.request("/plants/import", { method: "POST", body })).status).toBe(200);
    await searchUntil(service.request, "ficus", PLANTS);
    await service.stop();
  });

  async function expectWhole(service: TestService): Promise<void> {
    expect(await searchUntil(service.request, "ficus", PLANTS)).toEqual(Array.from({ length: PLANTS }, (_, id) => id));
    expect(await searchUntil(service.request, "c", PLANTS / 10)).toHaveLength(PLANTS / 10);
    await service.post(`{"id":${PLANTS},"name":"Morus nigra"}`);
    expect(await searchUntil(service.request, "nigra mor", 1)).toEqual([PLANTS]);
  }

  for (const [what, damage] of Object.entries({
    "left as it is": () => {},
    deleted: (path) => rmSync(path),
    empty: (path) => truncateSync(path, 0),
    "replaced by text": (path) => writeFileSync(path, "garbage ".repeat(10_000)),
    "garbage behind its first page": (path) => overwrite(path, 4096),
    "garbage behind its first 100 bytes": (path) => overwrite(path, 100),
    "cut in half": (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
    "of another version": (path) => execute(path, "PRAGMA user_version = 99"),
    "damaged where only a search looks": (path) => execute(path, "UPDATE names_data SET block = zeroblob(8) WHERE id > 10"),
    "beside a WAL of garbage": (path) => writeFileSync(`${path}-wal`, "garbage ".repeat(1000)),
  } satisfies Record<string, (path: string) => void>)) {
    it.concurrent(`that is ${what} finds every plant after the next start, and new ones too`, async () => {
      const data = temporaryFolder();
      cpSync(prepared, data, { recursive: true });
      const index = join(data, "plants.db.search");
      expect(existsSync(index)).toBe(true);
      damage(index);
      const service = await startTestService({ data });
      await expectWhole(service);
      await service.stop();
    });
  }

  function overwrite(path: string, from: number): void {
    const bytes = readFileSync(path);
    bytes.fill("garbage ", from);
    writeFileSync(path, bytes);
  }

  function execute(path: string, sql: string): void {
    const db = new DatabaseSync(path, { defensive: false });
    db.exec(sql);
    db.close();
  }

  it("is built from 20,000 existing plants, as the log tells; meanwhile searches get 503, everything else works, and no change is missed", async () => {
    const data = temporaryFolder();
    const first = await startTestService({ data });
    expect(await searchUntil(first.request, "acer", 0)).toEqual([]);
    const body = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"Acer ${id} ${id % 100 === 0 ? "rare" : ""}"}`).join("\n");
    expect((await first.request("/plants/import", { method: "POST", body })).status).toBe(200);
    await first.stop();
    expect(first.logged.join("\n")).not.toContain("search_bui");
    rmSync(join(data, "plants.db.search"));

    const service = await startTestService({ data });
    // Behind and ahead of the position of the build.
    const changes = [
      ["PATCH", "/plants/0", '{"name":"Betula"}'],
      ["PATCH", "/plants/19900", '{"name":"Betula"}'],
      ["PUT", "/plants/-1", '{"name":"Acer rare"}'],
      ["PUT", "/plants/20000", '{"name":"Acer rare"}'],
    ] as const;
    const sent = changes.map(([method, path, change]) => service.request(path, { method, body: change }));
    const early = await service.request("/plants?q=acer");
    expect([503, 200]).toContain(early.status);
    await expectConform(LIST, early);
    expect((await service.request("/plants/5")).status).toBe(200);
    expect((await service.request("/plants?limit=1000")).status).toBe(200);
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 201, 201]);
    expect(await searchUntil(service.request, "betula", 2)).toEqual([0, 19_900]);
    const expected = [-1, ...Array.from({ length: 198 }, (_, at) => (at + 1) * 100), 20_000];
    expect(await searchUntil(service.request, "rare", expected.length)).toEqual(expected);
    expect(await searchUntil(service.request, "acer 19999", 1)).toEqual([19_999]);
    await service.stop();
    const events = service.logged.map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events.filter((event) => event.startsWith("search_"))).toEqual(["search_building", "search_built"]);
  });

  it("is rebuilt when a backup has replaced the store, and finds what came after it", async () => {
    const data = temporaryFolder();
    const create = (service: TestService, from: number, name: string) =>
      Promise.all(Array.from({ length: 5 }, (_, at) => service.post(`{"id":${from + at},"name":"${name}"}`)));
    const first = await startTestService({ data });
    await create(first, 0, "Alnus");
    expect(await searchUntil(first.request, "alnus", 5)).toHaveLength(5);
    const path = join(data, "plants.db");
    const db = new DatabaseSync(path);
    db.exec(`VACUUM INTO '${data}/copy.db'`);
    db.close();
    for (let round = 1; round <= 5; round += 1) await create(first, 100 * round, "Betula");
    expect(await searchUntil(first.request, "betula", 25)).toHaveLength(25);
    await first.stop();

    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    renameSync(join(data, "copy.db"), path);
    const restored = await startTestService({ data });
    await create(restored, 1000, "Carpinus");
    expect(await searchUntil(restored.request, "carpinus", 5)).toHaveLength(5);
    expect(await searchUntil(restored.request, "alnus", 5)).toHaveLength(5);
    expect(await searchUntil(restored.request, "betula", 0)).toEqual([]);
    await restored.stop();
  });

  it("finds a prefix that hundreds of words share", async () => {
    const service = await startTestService();
    const body = Array.from({ length: 3000 }, (_, id) => `{"id":${id},"name":"specimen${String(id).padStart(5, "0")}"}`).join("\n");
    await service.request("/plants/import", { method: "POST", body });
    expect(await searchUntil(service.request, "specimen02999", 1)).toEqual([2999]);
    for (const [q, from, count] of [
      ["specime", 0, 1000],
      ["specimen", 0, 1000],
      ["specimen01", 1000, 1000],
      ["specimen029", 2900, 100],
    ] as const) {
      const page = await service.request(`/plants?limit=1000&q=${q}`);
      const ids = ((await page.json()) as { id: number }[]).map(({ id }) => id);
      expect(ids, q).toEqual(Array.from({ length: count }, (_, at) => from + at));
    }
    await service.stop();
  });
});

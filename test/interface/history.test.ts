import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { expectConform } from "../support/conform.ts";
import { ENGINES } from "../support/engines.ts";
import { nextOf } from "../support/link.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

type Past = Schemas["PastChange"];
type Answer = Readonly<{ body: unknown; length: number; next: string | undefined }>;

describe.each(ENGINES)("past changes on $engine", ({ openFlags }) => {
  let service: TestService;
  let reader: string;
  let writer: string;
  beforeAll(async () => {
    service = await startTestService(await openFlags());
    reader = await makeToken("reader", ["plants:read"]);
    writer = await makeToken("writer", ["plants:read", "plants:write"]);
  });
  afterAll(() => service.stop());

  async function makeToken(name: string, scopes: readonly string[]): Promise<string> {
    const response = await service.request("/tokens", { method: "POST", body: JSON.stringify({ name, scopes }) });
    return ((await response.json()) as { token: string }).token;
  }

  function send(path: string, { token = writer, ...init }: RequestInit & { token?: string } = {}): Promise<Response> {
    return service.request(path, { ...init, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } });
  }

  async function put(id: number, name: string, tag?: string, token = writer): Promise<void> {
    expect((await send(`/plants/${id}`, { method: "PUT", body: JSON.stringify({ name, tag }), token })).ok).toBe(true);
  }

  /** A body as the contract has it, the length of its text, and the query of the next page. */
  async function read(path: string, token = reader): Promise<Answer> {
    const response = await send(path, { token });
    expect(response.status).toBe(200);
    const { length } = await response.clone().text();
    const operation = { method: "get", path: path.replace(/\?.*/, "").replace(/\w+(?=\/changes$)/, "{id}") };
    return { body: await expectConform(operation, response), length, next: nextOf(response) };
  }

  /** Pages of past changes, each where the link of the one before leads to. */
  async function* pagesOf(path: string, query = "") {
    for (let next: string | undefined = query; next !== undefined;) {
      const page = await read(`${path}${next}`);
      yield { changes: page.body as Past[], length: page.length };
      ({ next } = page);
    }
  }

  async function changesOf(path: string): Promise<Past[]> {
    return (await Array.fromAsync(pagesOf(path))).flatMap(({ changes }) => changes);
  }

  /** Imports as NDJSON, and returns the id of the import. */
  async function importLines(lines: readonly string[], { query = "", token = writer } = {}): Promise<string> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
    const body = new TextEncoder().encode(lines.join("\n"));
    const response = await service.request(`/plants/import${query}`, { method: "POST", body, headers });
    expect(response.status).toBe(200);
    return ((await response.json()) as { import: string }).import;
  }

  it("the history of a plant says from what to what, the newest first, in pages, and keeps no name of a token from an admin alone", async () => {
    await put(1, "Monstera");
    await put(1, "Monstera deliciosa", "tropical", service.token);
    // The same again is no change.
    await put(1, "Monstera deliciosa", "tropical");
    expect((await send("/plants/1", { method: "DELETE" })).status).toBe(204);
    const [before, after] = [
      { id: 1, name: "Monstera" },
      { id: 1, name: "Monstera deliciosa", tag: "tropical" },
    ];
    const states = [
      { id: 1, change: "deleted", from: after },
      { id: 1, change: "replaced", from: before, to: after },
      { id: 1, change: "created", to: before },
    ];
    const { body, next } = await read("/plants/1/changes");
    expect(body).toEqual(states.map((state) => ({ ...state, at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) })));
    expect(next).toBeUndefined();
    const pages = await Array.fromAsync(pagesOf("/plants/1/changes", "?limit=1"));
    expect(pages.filter(({ changes }) => changes.length > 1)).toEqual([]);
    expect(pages.flatMap(({ changes }) => changes)).toEqual(body as Past[]);
    const named = await read("/plants/1/changes", service.token);
    expect(named.body).toMatchObject(["writer", "first", "writer"].map((by) => ({ by })));
    for (const token of [reader, writer]) expect(JSON.stringify((await read("/plants/1/changes", token)).body)).not.toContain("by");
    expect(await changesOf("/plants/404/changes")).toEqual([]);
  });

  it("what was deleted and is not there now is listed, the newest first, and can be created again from that", async () => {
    for (const id of [11, 12, 13]) await put(id, `Acer ${id}`, "tree");
    for (const id of [11, 12, 13]) expect((await send(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
    await put(12, "Acer again");
    const deleted = async () => (await changesOf("/plants/deleted")).filter(({ id }) => Number(id) > 10);
    expect((await deleted()).map(({ id, from }) => [Number(id), from?.name])).toEqual([
      [13, "Acer 13"],
      [11, "Acer 11"],
    ]);
    const { from } = (await deleted())[0]!;
    const change = { changes: [{ id: 13, from: null, to: from }] };
    expect(await (await send("/plants/changes", { method: "POST", body: JSON.stringify(change) })).json()).toMatchObject({ changed: 1 });
    expect((await deleted()).map(({ id }) => Number(id))).toEqual([11]);
    expect(await (await send("/plants/13")).json()).toEqual({ id: 13, name: "Acer 13", tag: "tree" });
  });

  it("a list of past changes takes its own cursors alone: others and other text get 400, what is not in the log 410", async () => {
    const imported: string[] = [];
    for (const plants of [
      [15, 16],
      [17, 18],
    ])
      imported.push(await importLines(plants.map((id) => `{"id":${id},"name":"Cornus"}`)));
    for (const id of [15, 16, 17, 18]) expect((await send(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
    const lists = [...[15, 16].map((id) => `/plants/${id}/changes`), "/plants/deleted", ...imported.map((id) => `/imports/${id}/changes`)];
    const cursors = await Promise.all(
      lists.map(async (path) => /cursor=([\w-]+)/.exec((await send(`${path}?limit=1`)).headers.get("link")!)![1]!),
    );
    const feed = new URLSearchParams((await send("/plants/changes?after=now")).headers.get("link")!.slice(2)).get("after")!.split(">")[0]!;
    const place = Buffer.from(feed, "base64url").subarray(0, 24).toString("base64url");
    const refused = async (path: string, cursor: string) => {
      const response = await send(`${path}?cursor=${cursor}`);
      return [response.status, ((await response.json()) as { error?: number; message?: string }).message];
    };
    for (const [at, path] of lists.entries()) {
      const mine = cursors[at]!;
      expect((await send(`${path}?cursor=${mine}`)).status).toBe(200);
      const others = cursors.filter((cursor) => cursor !== mine);
      for (const cursor of [...others, feed, place, "abc", "AAAA", `${mine}A`, `${mine.slice(0, -1)}_`, mine.slice(1)])
        expect([path, cursor, ...(await refused(path, cursor))]).toEqual([
          path,
          cursor,
          400,
          "The query parameter `cursor` is not from a `Link` of this list: leave it out to begin at the first page.",
        ]);
      const [made, gone] = [Buffer.from(mine, "base64url"), Buffer.from(mine, "base64url").fill(7, 8)];
      expect(made.length).toBe(32);
      expect((await refused(path, gone.toString("base64url")))[0]).toBe(410);
      // No list is a part of the feed.
      expect((await send(`/plants/changes?after=${mine}`)).status).toBe(400);
    }
  });

  it("an import of several requests under one name is one, and is taken back as a whole but for what was changed since", async () => {
    await put(21, "Salix", "old");
    const name = { query: "?import=beds_2026-1&onConflict=replace" };
    const id = await importLines(['{"id":21,"name":"Salix alba"}', '{"id":22,"name":"Rosa"}'], name);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(await importLines(['{"id":23,"name":"Tilia"}', '{"id":22,"name":"Rosa"}'], name)).toBe(id);
    await put(23, "Tilia cordata");
    const imports = (await read("/imports", service.token)).body as Schemas["ImportList"];
    const mine = imports.find((one) => one.id === id)!;
    expect(mine).toMatchObject({ by: "writer", created: 2, replaced: 1 });
    expect(mine.began <= mine.ended).toBe(true);
    expect(JSON.stringify((await read("/imports")).body)).not.toContain("writer");
    expect((await changesOf("/plants/21/changes")).map((change) => [change.change, change.import])).toEqual([
      ["replaced", id],
      ["created", undefined],
    ]);
    expect(await takeBack(id)).toEqual({ changed: 2, conflicts: 1 });
    expect(await (await send("/plants/21")).json()).toEqual({ id: 21, name: "Salix", tag: "old" });
    expect((await send("/plants/22")).status).toBe(404);
    expect(await (await send("/plants/23")).json()).toEqual({ id: 23, name: "Tilia cordata" });
  });

  async function takeBack(id: string): Promise<{ changed: number; conflicts: number }> {
    let [changed, conflicts] = [0, 0];
    for await (const { changes: found } of pagesOf(`/imports/${id}/changes`, "?limit=2")) {
      const changes = found.map(({ id: plant, from = null, to = null }) => ({ id: plant, from: to, to: from }));
      const response = await send("/plants/changes", { method: "POST", body: JSON.stringify({ changes }) });
      const outcome = (await response.json()) as { changed: number; conflicts: number };
      [changed, conflicts] = [changed + outcome.changed, conflicts + outcome.conflicts];
    }
    return { changed, conflicts };
  }

  it("no token adds to the import of another, and a dry run is none", async () => {
    const query = "?import=same";
    const mine = await importLines(['{"id":31,"name":"Abies"}'], { query });
    const other = await importLines(['{"id":32,"name":"Picea"}'], { query, token: service.token });
    expect(other).not.toBe(mine);
    expect((await changesOf(`/imports/${mine}/changes`)).map(({ id }) => Number(id))).toEqual([31]);
    expect(await importLines(['{"id":33,"name":"Larix"}'], { query: "?dryRun=true" })).toBeUndefined();
    expect(await changesOf(`/imports/${"0".repeat(32)}/changes`)).toEqual([]);
    for (const wrong of ["", "a b", "a".repeat(65), "%C3%A4"])
      expect((await send(`/plants/import?import=${wrong}`, { method: "POST", body: "{}" })).status).toBe(400);
  });

  it("a page of large plants ends at about a million bytes, and the next one goes on there", async () => {
    const name = "x".repeat(60_000);
    for (let id = 100; id < 140; id += 1) await put(id, name);
    for (let id = 100; id < 140; id += 1) expect((await send(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
    const pages = await Array.fromAsync(pagesOf("/plants/deleted", "?limit=1000"));
    for (const { length } of pages) expect(length).toBeLessThan(1_400_000);
    const ids = pages.flatMap(({ changes }) => changes.map(({ id }) => Number(id))).filter((id) => id >= 100);
    expect(ids).toEqual(Array.from({ length: 40 }, (_, at) => 139 - at));
  });

  it("a page of plants that are six times as long in JSON ends as early, and no change is left out or comes twice", async () => {
    for (let version = 0; version < 40; version += 1) await put(150, `${version}${"\u0001".repeat(10_000)}`);
    const pages = await Array.fromAsync(pagesOf("/plants/150/changes", "?limit=1000"));
    // The last change may have two names of 60,000 characters.
    for (const { length } of pages) expect(length).toBeLessThan(1_200_000);
    const versions = pages.flatMap(({ changes }) => changes.map(({ to }) => to!.name.replaceAll("\u0001", "")));
    expect(versions).toEqual(Array.from({ length: 40 }, (_, at) => String(39 - at)));
  });
});

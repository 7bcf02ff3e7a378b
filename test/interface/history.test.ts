import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { expectConform } from "../support/conform.ts";
import { ENGINES } from "../support/engines.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

type Past = Schemas["PastChange"];
type Sent = Readonly<{ token?: string; path: string; query?: string }>;

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

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  async function read<Body>({ token = reader, path, query = "" }: Sent): Promise<{ body: Body; next: string | undefined }> {
    const response = await send(`${path.replace("{id}", query.split("?")[0]!)}${query.includes("?") ? `?${query.split("?")[1]}` : ""}`, {
      token,
    });
    expect(response.status).toBe(200);
    const next = /^<(\?.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    return { body: (await expectConform({ method: "get", path }, response)) as Body, next };
  }

  const historyOf = (id: number, sent: { token?: string; query?: string } = {}) =>
    read<Past[]>({ ...sent, path: "/plants/{id}/changes", query: `${id}${sent.query ?? ""}` });

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
    const { body, next } = await historyOf(1);
    expect(body.map(({ at: _at, ...rest }) => rest) as unknown[]).toEqual(states);
    expect(next).toBeUndefined();
    for (const { at } of body) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const seen: Past[] = [];
    for (let query: string | undefined = "?limit=1"; query !== undefined;) {
      const page: Awaited<ReturnType<typeof historyOf>> = await historyOf(1, { query });
      expect(page.body.length).toBeLessThan(2);
      seen.push(...page.body);
      query = page.next;
    }
    expect(seen).toEqual(body);
    const named = await historyOf(1, { token: service.token });
    expect(named.body.map(({ by }) => by)).toEqual(["writer", "first", "writer"]);
    for (const token of [reader, writer]) expect(JSON.stringify((await historyOf(1, { token })).body)).not.toContain("by");
    expect((await historyOf(404)).body).toEqual([]);
  });

  it("what was deleted and is not there now is listed, the newest first, and can be created again from that", async () => {
    for (const id of [11, 12, 13]) await put(id, `Acer ${id}`, "tree");
    for (const id of [11, 12, 13]) expect((await send(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
    await put(12, "Acer again");
    const deleted = async () => (await read<Past[]>({ path: "/plants/deleted" })).body.filter(({ id }) => Number(id) > 10);
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
    const imports = (await read<Schemas["ImportList"]>({ path: "/imports", token: service.token })).body;
    const mine = imports.find((one) => one.id === id)!;
    expect(mine).toMatchObject({ by: "writer", created: 2, replaced: 1 });
    expect(mine.began <= mine.ended).toBe(true);
    expect(JSON.stringify((await read({ path: "/imports" })).body)).not.toContain("writer");
    const history = (await historyOf(21)).body;
    expect(history.map((change) => [change.change, change.import])).toEqual([
      ["replaced", id],
      ["created", undefined],
    ]);
    const taken = await takeBack(id);
    expect(taken).toEqual({ changed: 2, conflicts: 1 });
    expect(await (await send("/plants/21")).json()).toEqual({ id: 21, name: "Salix", tag: "old" });
    expect((await send("/plants/22")).status).toBe(404);
    expect(await (await send("/plants/23")).json()).toEqual({ id: 23, name: "Tilia cordata" });
  });

  async function takeBack(id: string): Promise<{ changed: number; conflicts: number }> {
    let [changed, conflicts] = [0, 0];
    for (let query: string | undefined = `${id}?limit=2`; query !== undefined;) {
      const page: { body: Past[]; next: string | undefined } = await read({ path: "/imports/{id}/changes", query });
      const changes = page.body.map(({ id: plant, from = null, to = null }) => ({ id: plant, from: to, to: from }));
      const response = await send("/plants/changes", { method: "POST", body: JSON.stringify({ changes }) });
      const outcome = (await response.json()) as { changed: number; conflicts: number };
      [changed, conflicts] = [changed + outcome.changed, conflicts + outcome.conflicts];
      query = page.next && `${id}${page.next}`;
    }
    return { changed, conflicts };
  }

  it("no token adds to the import of another, and a dry run is none", async () => {
    const query = "?import=same";
    const mine = await importLines(['{"id":31,"name":"Abies"}'], { query });
    const other = await importLines(['{"id":32,"name":"Picea"}'], { query, token: service.token });
    expect(other).not.toBe(mine);
    expect((await read<Past[]>({ path: "/imports/{id}/changes", query: mine })).body.map(({ id }) => Number(id))).toEqual([31]);
    expect(await importLines(['{"id":33,"name":"Larix"}'], { query: "?dryRun=true" })).toBeUndefined();
    expect((await read<Past[]>({ path: "/imports/{id}/changes", query: "0".repeat(32) })).body).toEqual([]);
    for (const wrong of ["", "a b", "a".repeat(65), "%C3%A4"])
      expect((await send(`/plants/import?import=${wrong}`, { method: "POST", body: "{}" })).status).toBe(400);
  });

  it("a page of large plants ends at about a million bytes, and the next one goes on there", async () => {
    const name = "x".repeat(60_000);
    for (let id = 100; id < 140; id += 1) await put(id, name);
    for (let id = 100; id < 140; id += 1) expect((await send(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
    const ids: number[] = [];
    for (let query: string | undefined = "?limit=1000"; query !== undefined;) {
      const response = await send(`/plants/deleted${query}`, { token: reader });
      const text = await response.text();
      expect(text.length).toBeLessThan(1_400_000);
      ids.push(...(JSON.parse(text) as Past[]).map(({ id }) => Number(id)).filter((id) => id >= 100));
      query = /^<(\?.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    }
    expect(ids).toEqual(Array.from({ length: 40 }, (_, at) => 139 - at));
  });

  it("a page of plants that are six times as long in JSON ends as early, and no change is left out or comes twice", async () => {
    for (let version = 0; version < 40; version += 1) await put(150, `${version}${"\u0001".repeat(10_000)}`);
    const versions: string[] = [];
    for (let query: string | undefined = "?limit=1000"; query !== undefined;) {
      const response = await send(`/plants/150/changes${query}`, { token: reader });
      const text = await response.text();
      // The last change may have two names of 60,000 characters.
      expect(text.length).toBeLessThan(1_200_000);
      versions.push(...(JSON.parse(text) as Past[]).map(({ to }) => to!.name.replaceAll("\u0001", "")));
      query = /^<(\?.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    }
    expect(versions).toEqual(Array.from({ length: 40 }, (_, at) => String(39 - at)));
  });
});

import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { expectConform } from "../support/conform.ts";
import { ENGINES, flagsOf } from "../support/engines.ts";
import { nextOf } from "../support/link.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { readToken, startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { PATIENT } from "../support/service-process.ts";
import { openStream } from "../support/stream.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const OPERATION = { method: "get", path: "/plants/changes" };

type Page = Readonly<{ changes: Schemas["ChangeList"]; link: string }>;

describe.each(ENGINES)("changes on $engine", ({ openFlags }) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(await openFlags());
  });
  afterAll(() => service.stop());

  async function read(query: string): Promise<Page> {
    const response = await service.request(`/plants/changes${query}`);
    expect(response.status).toBe(200);
    return { changes: (await expectConform(OPERATION, response)) as Schemas["ChangeList"], link: nextOf(response) ?? "" };
  }

  async function put(id: number, name: string, tag?: string): Promise<void> {
    const body = JSON.stringify({ name, tag });
    expect((await service.request(`/plants/${id}`, { method: "PUT", body })).ok).toBe(true);
  }

  async function remove(id: number): Promise<void> {
    expect((await service.request(`/plants/${id}`, { method: "DELETE" })).status).toBe(204);
  }

  const toTexts = (changes: Schemas["ChangeList"]) => changes.map(({ id, change }) => `${id} ${change}`);
  /** Where what changes next begins. */
  const now = async () => new URLSearchParams((await read("?after=now")).link).get("after")!;
  const stream = (query: string, fields: readonly string[] = []) => openStream(service.url, { token: service.token, query, fields });

  it("pages of changes lead from any cursor on through every later change, in order, and to an empty one that leads to itself", async () => {
    const first = await now();
    for (const id of [11, 12, 13]) await put(id, `Acer ${id}`);
    await put(12, "Acer rubrum", "tree");
    await remove(11);
    const seen: Schemas["ChangeList"][number][] = [];
    let link = `?after=${first}&limit=2`;
    for (let page = await read(link); page.changes.length > 0; page = await read(page.link)) {
      expect(page.changes.length).toBeLessThan(3);
      seen.push(...page.changes);
      link = page.link;
    }
    expect(toTexts(seen)).toEqual(["11 created", "12 created", "13 created", "12 replaced", "11 deleted"]);
    // What it is now, not what it was.
    expect(seen.map(({ plant }) => plant?.name)).toEqual([undefined, "Acer rubrum", "Acer 13", "Acer rubrum", undefined]);
    for (const { at } of seen) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Math.abs(Date.parse(seen[0]!.at) - Date.now())).toBeLessThan(600_000);
    expect((await read(link)).link).toBe(link);
  });

  it("a page of a tag has what enters and what leaves it, its link keeps the filter, and untagged is one too", async () => {
    const first = await now();
    await put(21, "Aloe", "in");
    await put(22, "Aloe", "out");
    await put(21, "Aloe", "out");
    await put(23, "Aloe");
    await put(21, "Aloe");
    const tagged = await read(`?after=${first}&tag=in`);
    // Its first change is one of another tag by now.
    expect(toTexts(tagged.changes)).toEqual(["21 replaced"]);
    expect(tagged.link).toEndWith("&tag=in");
    // It had the tag before the second change, and has none of the three now.
    expect(toTexts((await read(`?after=${first}&untagged=true`)).changes)).toEqual([
      "21 created",
      "21 replaced",
      "23 created",
      "21 replaced",
    ]);
    expect((await service.request(`/plants/changes?after=${first}&tag=in&untagged=true`)).status).toBe(400);
  });

  it("a cursor that is not of this history gets 410 and names the export, in a page and in a stream", async () => {
    const cursor = await now();
    const bytes = Buffer.from(cursor, "base64url");
    bytes[bytes.length - 1]! ^= 1;
    for (const accept of ["application/json", "text/event-stream"])
      for (const after of [bytes, Buffer.alloc(24), Buffer.alloc(24, 255), Buffer.alloc(40, 7)].map((one) => one.toString("base64url"))) {
        const response = await service.request(`/plants/changes?after=${after}`, { headers: { accept } });
        expect([after, response.status]).toEqual([after, 410]);
        expect(await expectConform(OPERATION, response)).toMatchObject({
          error: 41000,
          message: expect.stringContaining("GET /plants/export"),
        });
      }
  });

  it("text that is no cursor gets 400 and says what to send, in a page, in a stream and in Last-Event-ID", async () => {
    const cursor = await now();
    const short = Buffer.from(cursor, "base64url").subarray(0, 24).toString("base64url");
    const texts = ["abc", "AAAA", "Now", short.slice(1), `${short}A`, `${short}AA`, `${short}${"A".repeat(21)}_`];
    const streaming = { accept: "text/event-stream" };
    for (const text of texts)
      for (const [name, query, headers] of [
        ["query parameter `after`", `?after=${text}`, {}],
        ["query parameter `after`", `?after=${text}`, streaming],
        ["header Last-Event-ID", `?after=${cursor}`, { ...streaming, "last-event-id": text }],
      ] as const) {
        const response = await service.request(`/plants/changes${query}`, { headers });
        expect([text, response.status]).toEqual([text, 400]);
        expect(await expectConform(OPERATION, response)).toEqual({
          error: 40006,
          message: `The ${name} is not a cursor of changes: send one as it came, or begin with GET /plants/export.`,
        });
      }
    for (const after of ["", "%20", "a+b", "A".repeat(201)])
      expect((await service.request(`/plants/changes?after=${after}`)).status).toBe(400);
    for (const id of ["now", "a/b", "caf\u00e9"])
      expect((await service.request("/plants/changes", { headers: { ...streaming, "last-event-id": id } })).status).toBe(400);
  });

  it("a stream begins with what changes next, sends each change once, in order, and the plant as it is", async () => {
    await put(41, "before");
    const followed = await stream("");
    expect(followed.head()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    for (const line of ["content-type: text/event-stream", "cache-control: no-store", "x-accel-buffering: no"])
      expect(followed.head()).toContain(`\r\n${line}\r\n`);
    expect(followed.head()).not.toContain("content-encoding");
    expect(followed.events()[0]).toEqual({ retry: 1000, id: expect.stringMatching(/^[\w-]+$/) });
    for (let id = 42; id < 62; id += 1) await put(id, `Acer ${id}`, "tree");
    await remove(42);
    await followed.waitFor(21);
    const ids = Array.from({ length: 20 }, (_, at) => `${42 + at} created`);
    expect(followed.changes()).toEqual([...ids, "42 deleted"]);
    const last = followed.events().findLast(({ change }) => change?.change === "created");
    expect(last?.change).toMatchObject({ change: "created", plant: { id: 61, name: "Acer 61", tag: "tree" } });
    expect(toTexts((await read(`?after=${followed.cursor()}`)).changes)).toEqual([]);
    followed.socket.destroy();
  });

  it("a stream goes on behind Last-Event-ID, which wins over `after`, at each place of a stream that broke off", async () => {
    const first = await now();
    for (const id of [71, 72, 73, 74]) await put(id, "Acer");
    const whole = await stream(`?after=${first}`);
    await whole.waitFor(4);
    whole.socket.destroy();
    for (const [at, { id }] of whole.events().slice(1).entries()) {
      const rest = await stream("?after=now", [`Last-Event-ID: ${id}`]);
      await rest.waitFor(3 - at);
      expect(rest.changes()).toEqual(["72 created", "73 created", "74 created"].slice(at));
      rest.socket.destroy();
    }
  });

  it("a stream of a tag has what enters and what leaves it, while others have all", async () => {
    const [all, tagged, untagged] = await Promise.all([stream(""), stream("?tag=bed"), stream("?untagged=true")]);
    await put(81, "Aloe", "bed");
    await tagged.waitFor(1);
    await put(81, "Aloe", "shed");
    await tagged.waitFor(2);
    await put(82, "Aloe");
    await untagged.waitFor(1);
    await remove(82);
    await remove(81);
    await all.waitFor(5);
    await untagged.waitFor(2);
    expect(tagged.changes()).toEqual(["81 created", "81 replaced"]);
    expect(untagged.changes()).toEqual(["82 created", "82 deleted"]);
    expect(all.changes()).toEqual(["81 created", "81 replaced", "82 created", "82 deleted", "81 deleted"]);
    for (const { socket } of [all, tagged, untagged]) socket.destroy();
  });

  it("streams that begin at any moment of a load have each change once, in the order of the log", async () => {
    const first = await now();
    const total = 400;
    const streams: Array<ReturnType<typeof stream>> = [];
    for (let id = 0; id < total; id += 8) {
      streams.push(stream(id % 16 === 0 ? `?after=${first}` : `?after=${first}&tag=load`));
      await Promise.all(Array.from({ length: 8 }, (_, at) => put(1000 + id + at, "Acer", "load")));
      if (streams.length < 25) continue;
      for (const one of streams.splice(0, 1)) (await one).socket.destroy();
    }
    const wanted: string[] = [];
    for (let page = await read(`?after=${first}&limit=1000`); page.changes.length > 0; page = await read(page.link))
      wanted.push(...toTexts(page.changes));
    expect(wanted.toSorted()).toEqual(Array.from({ length: total }, (_, at) => `${1000 + at} created`).toSorted());
    for (const one of streams) {
      const followed = await one;
      await followed.waitFor(total);
      expect(followed.changes()).toEqual(wanted);
      followed.socket.destroy();
    }
  });
});

/** Not a bug: others change plants before an export has its snapshot, and after that. */
const SLOW_SNAPSHOT = [
  {
    file: "src/store/queued-plants.ts",
    from: "const taken = await plants.snapshot();",
    to: "await Bun.sleep(300); const taken = await plants.snapshot(); await Bun.sleep(300);",
  },
];

it.each(ENGINES)("the cursor of an export on $engine leads to every change that is not in its file", async ({ openFlags }) => {
  const data = temporaryFolder();
  const { url, end } = await startProcess({ data, root: plantBugs(SLOW_SNAPSHOT), flags: [...PATIENT, ...flagsOf(await openFlags())] });
  const authorization = `Bearer ${await readToken(data)}`;
  const ask = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { ...init, headers: { authorization } });
  let isExported = false;
  let answered = 0;
  async function createUntilExported(): Promise<void> {
    while (!isExported) {
      const { ok } = await ask(`/plants/${answered + 1}`, { method: "PUT", body: '{"name":"Salix"}' });
      expect(ok).toBe(true);
      answered += 1;
    }
  }
  const creating = createUntilExported();
  await until("There are plants", () => answered > 10);
  const response = await ask("/plants/export");
  const exported = (await response.text()).trim().split("\n");
  isExported = true;
  await creating;
  const found = new Set(exported.map((line) => (JSON.parse(line) as { id: number }).id));
  expect(found.size).toBeWithin(11, answered);
  for (let query = `?limit=1000&after=${response.headers.get("x-changes-cursor")}`, count = Infinity; count > 0;) {
    const page = await ask(`/plants/changes${query}`);
    const changes = (await page.json()) as Schemas["ChangeList"];
    for (const { id } of changes) found.add(Number(id));
    [query, count] = [nextOf(page)!, changes.length];
  }
  expect(Array.from({ length: answered }, (_, at) => at + 1).filter((id) => !found.has(id))).toEqual([]);
  await end("SIGKILL");
});

it("all that reads changes gets 501 where none are kept, and says how to keep them, and an export has no cursor", async () => {
  const service = await startTestService({ changesDays: "0" });
  const paths = [
    "/plants/changes",
    "/plants/changes?after=now",
    "/plants/1/changes",
    "/plants/deleted",
    "/imports",
    `/imports/${"0".repeat(32)}/changes`,
  ];
  for (const path of paths)
    for (const accept of ["application/json", "text/event-stream"]) {
      const response = await service.request(path, { headers: { accept } });
      expect([path, response.status]).toEqual([path, 501]);
      expect(await response.json()).toMatchObject({ error: 50101, message: expect.stringContaining("--changes-days") });
    }
  const file = await service.request("/plants/export");
  expect([file.status, file.headers.get("x-changes-cursor")]).toEqual([200, null]);
  await service.stop();
});

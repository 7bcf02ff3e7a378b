import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import type { Client, Plant } from "../../src/client/client.ts";
import { runInside } from "../support/command.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { askUntil, until } from "../support/until.ts";

/** What a program keeps, as lines in order, and the addresses that it is told. */
type Copy = Readonly<{ environment: Record<string, string>; contents: () => readonly string[]; stop: () => Promise<void> }>;

/** The programs of the document, in order: what they write into, and what is then in there of these plants. */
const PROGRAMS = {
  "Another database": { open: openDatabase, kept: (plants: readonly Plant[]) => plants.map(lineOf) },
  "A search engine": { open: openEngine, kept: (plants: readonly Plant[]) => plants.map(lineOf) },
  "A shop": {
    open: openShop,
    kept: (plants: readonly Plant[]) => plants.filter(({ tag }) => tag === "for sale").map(({ id, name }) => `${id} ${name}`),
  },
};

const document = readFileSync(join(PROJECT, "docs/how-to/keep-a-copy.md"), "utf8");
const SOME: readonly Plant[] = [
  { id: -(2n ** 63n), name: "a\n\u0000b" },
  { id: 1n, name: "Acer", tag: "for sale" },
  { id: 2n ** 53n + 1n, name: "Ginkgo", tag: "for sale" },
  { id: 2n ** 63n - 1n, name: "Rosa", tag: "x" },
];

let data: string;
let service: TestService;
let plants: Client;
beforeEach(async () => {
  data = temporaryFolder();
  service = await startTestService({ data });
  plants = createClient(service);
  await plants.importPlants(SOME);
});
afterEach(() => service.stop());

for (const [title, { open, kept }] of Object.entries(PROGRAMS))
  describe(`the program of "${title}" in docs/how-to/keep-a-copy.md`, () => {
    const [, program = ""] = new RegExp(`## ${title}\n.*?\`\`\`ts\n(.*?)\`\`\``, "s").exec(document) ?? [];
    let folder: string;
    let copy: Copy;
    let child: ChildProcess;
    beforeEach(() => {
      folder = temporaryFolder();
      copy = open(folder);
      child = start();
    });
    afterEach(async () => {
      await kill();
      await copy.stop();
    });

    /** Starts the program in a copy of the project, where `tsconfig.json` finds the client. */
    function start(): ChildProcess {
      const path = join(plantBugs([]), "program.ts");
      writeFileSync(path, program);
      const env = { ...process.env, PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token, ...copy.environment };
      return spawn(process.execPath, [path], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
    }

    async function kill(): Promise<void> {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      if (child.kill("SIGKILL")) await ended;
    }

    async function expectEqual(): Promise<void> {
      const wanted = kept(await Array.fromAsync(plants.exportedPlants()));
      const found = await askUntil(copy.contents, (lines) => Bun.deepEquals(lines, wanted));
      expect(found).toEqual(wanted);
    }

    it("keeps what is created, changed and deleted, every id with all its digits", async () => {
      await expectEqual();
      await plants.remove(1n);
      await plants.patch(2n ** 53n + 1n, { tag: null });
      await plants.patch(2n ** 63n - 1n, { tag: "for sale" });
      await plants.create({ id: -1n, name: "Iris", tag: "for sale" });
      await expectEqual();
    });

    it("misses nothing when it is killed in the middle, at the beginning or later", async () => {
      await plants.importPlants(many(500, "first"));
      for (const name of ["second", "third"]) {
        const before = copy.contents();
        const written = plants.importPlants(many(500, name), { onConflict: "replace" });
        await until("a part of the copy", () => !Bun.deepEquals(copy.contents(), before));
        await kill();
        await written;
        child = start();
        await plants.remove(100n);
        await expectEqual();
      }
    });

    it("begins again when the store was restored behind it, and keeps nothing that is not there", async () => {
      const backup = join(temporaryFolder(), "plants.backup");
      const restored = temporaryFolder();
      expect(await runInside(["backup", backup, "--data", data])).toMatchObject({ status: 0 });
      await plants.importPlants(many(20, "lost"));
      await plants.remove(1n);
      await expectEqual();
      await service.stop();
      expect(await runInside(["restore", backup, "--data", restored])).toMatchObject({ status: 0 });
      const { token } = service;
      service = { ...(await startTestService({ data: restored, port: new URL(service.url).port })), token };
      await expectEqual();
      await plants.create({ id: 7n, name: "Salix", tag: "for sale" });
      await expectEqual();
    });
  });

function lineOf({ id, name, tag }: Readonly<{ id: bigint | string; name: string; tag?: string | null }>): string {
  return `${id} ${name} ${tag ?? "-"}`;
}

function many(plantsMax: number, name: string): Plant[] {
  return Array.from({ length: plantsMax }, (_, at) => ({ id: BigInt(at + 10), name, tag: at % 3 === 0 ? "for sale" : name }));
}

function openDatabase(folder: string): Copy {
  const path = join(folder, "copy.db");
  function contents(): string[] {
    // Before that, a reader would be in the way of the switch to WAL.
    if (!existsSync(`${path}-wal`)) return [];
    using copy = new Database(path, { safeIntegers: true, readonly: true });
    copy.run("PRAGMA busy_timeout = 10000");
    const isThere = copy.query("SELECT 1 FROM sqlite_schema WHERE name = 'plants'").get();
    if (!isThere) return [];
    const rows = copy.query<{ id: bigint; name: string; tag: string | null }, []>("SELECT * FROM plants ORDER BY id").all();
    return rows.map(lineOf);
  }
  return { environment: {}, contents, stop: async () => {} };
}

type Document = Readonly<{ name: string; tag?: string; copy: string }>;

/** What the program needs of Elasticsearch 8: https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs.html */
function openEngine(): Copy {
  const documents = new Map<string, Document>();
  const places = new Map<string, unknown>();
  async function answer(request: Request): Promise<Response> {
    const [, index, kind, id = ""] = new URL(request.url).pathname.split("/");
    const all: Map<string, unknown> = index === "plants" ? documents : places;
    const value = request.method === "PUT" || kind === "_delete_by_query" ? await request.json() : undefined;
    if (kind === "_delete_by_query") {
      const { query } = value as { query: { bool: { must_not: { term: { "copy.keyword": string } } } } };
      for (const [key, { copy }] of documents) if (copy !== query.bool.must_not.term["copy.keyword"]) documents.delete(key);
    } else if (request.method === "PUT") all.set(id, value);
    else if (request.method === "DELETE" && !all.delete(id)) return new Response("{}", { status: 404 });
    else if (request.method === "GET") return all.has(id) ? Response.json({ _source: all.get(id) }) : new Response("{}", { status: 404 });
    return Response.json({});
  }
  return { ...serve("ENGINE_URL", answer), contents: () => byId(documents).map(([id, plant]) => lineOf({ id, ...plant })) };
}

function openShop(): Copy {
  const products = new Map<string, { name: string }>();
  async function answer(request: Request): Promise<Response> {
    const [, , id = ""] = new URL(request.url).pathname.split("/");
    if (request.method === "GET") return Response.json(Array.from(products.keys(), (key) => ({ id: key })));
    if (request.method === "PUT") products.set(id, (await request.json()) as { name: string });
    else if (!products.delete(id)) return new Response(null, { status: 404 });
    return new Response(null, { status: 204 });
  }
  return { ...serve("SHOP_URL", answer), contents: () => byId(products).map(([id, { name }]) => `${id} ${name}`) };
}

/** A service whose address a program is told. */
function serve(variable: string, fetch: (request: Request) => Promise<Response>): Pick<Copy, "environment" | "stop"> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  return { environment: { [variable]: server.url.origin }, stop: () => server.stop(true) };
}

function byId<Value>(all: ReadonlyMap<string, Value>): Array<readonly [id: string, value: Value]> {
  return Array.from(all).toSorted(([left], [right]) => (BigInt(left) < BigInt(right) ? -1 : 1));
}

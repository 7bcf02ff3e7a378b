import { createMetrics } from "../../src/runtime/metrics.ts";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { parseConfig } from "../../src/app/config.ts";
import { createLog } from "../../src/runtime/log.ts";
import { start } from "../../src/app/service.ts";
import { VERSION, WORDS_VERSION } from "../../src/store/postgres/engine/schema.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { runCommand, startProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { until } from "../support/until.ts";

const TOGETHER = 10;
const ROUNDS = 3;

async function expectReady(services: ReadonlyArray<Readonly<{ url: string }>>, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (const { url } of services) {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/plants`, { headers })).status).toBe(200);
  }
}

function secretsOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("first-token"));
}

/** In this process, because separate processes would not start at the same moment. */
function startHere(data: string, database: string) {
  const log = createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now });
  function onFatal(reason: Error): never {
    throw reason;
  }
  return start(parseConfig({}, { port: "0", data, database, queueWaitMs: "10000" }), { log, metrics: createMetrics(), onFatal });
}

describe(`${TOGETHER} services starting at the same moment on a new database`, () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`all become ready, on one schema, with one first token in only one of their folders, time ${round} of ${ROUNDS}`, async () => {
      const server = await sharedCluster();
      const name = `plants_${randomUUID()}`;
      const database = await server.createDatabase(name);
      const folders = Array.from({ length: TOGETHER }, () => temporaryFolder());
      const services = await Promise.all(folders.map((data) => startHere(data, database)));

      expect(await server.query("SELECT id, version FROM plant_store_schema ORDER BY id", name)).toEqual([
        { id: "1", version: String(VERSION) },
        { id: "2", version: String(WORDS_VERSION) },
      ]);
      const indexes = "SELECT indexrelid::regclass::text AS name, indisvalid FROM pg_index WHERE indrelid = 'plants'::regclass ORDER BY 1";
      const expected = ["plants_by_name", "plants_by_newest", "plants_by_tag", "plants_by_word", "plants_pkey", "plants_without_tag"].map(
        (index) => ({ name: index, indisvalid: true }),
      );
      expect(await server.query(indexes, name)).toEqual(expected);
      expect(await server.query("SELECT id FROM tokens", name)).toEqual([{ id: "first" }]);
      expect(folders.flatMap(secretsOf)).toEqual(["first-token"]);
      const [token, ...others] = services.flatMap(({ firstToken }) => firstToken ?? []);
      expect(others).toEqual([]);
      expect(await readToken(folders.find((folder) => secretsOf(folder).length > 0)!)).toBe(token!);
      await expectReady(services, token!);
      await Promise.all(services.map((service) => service.stop()));
    });
  }
});

const KEEP = "if (isFirst) keepDraft(draft, path);";
const KILL = 'process.kill(process.pid, "SIGKILL");';

describe("a start", () => {
  it("becomes ready even if another one in its folder overtakes it between the commit of the first token and its file", async () => {
    const server = await sharedCluster();
    const database = await server.createDatabase();
    const data = temporaryFolder();
    const slowly = `await new Promise((go) => setTimeout(go, 1500)); ${KEEP}`;
    const root = plantBugs([{ file: "src/auth/first-token.ts", from: KEEP, to: slowly }]);
    const slow = startProcess({ data, root, flags: ["--database", database] });
    const name = new URL(database).pathname.slice(1);
    await until("The first token is committed", async () => {
      const [there] = await server.query("SELECT to_regclass('tokens_by_hash') IS NOT NULL AS is_there", name);
      return there?.["is_there"] === true && (await server.query("SELECT FROM tokens", name)).length === 1;
    });
    const quick = await startProcess({ data, flags: ["--database", database] });
    expect(secretsOf(data)).toEqual(["first-token"]);
    const services = [quick, await slow];
    await expectReady(services, await readToken(data));
    for (const service of services) expect(await service.end("SIGTERM")).toBe(0);
  });
});

describe("a killed start", () => {
  it("leaves, between the commit of the first token and its file, a draft that the next start adopts", async () => {
    const root = plantBugs([{ file: "src/auth/first-token.ts", from: KEEP, to: `if (isFirst) ${KILL}` }]);
    const flags = ["--database", await (await sharedCluster()).createDatabase()];
    const data = temporaryFolder();
    expect((await runCommand(["serve", "--port", "0", "--data", data, ...flags], { root })).status).toBeNull();
    const [draft = ""] = secretsOf(data);
    expect(draft).toMatch(/^first-token\.\w{6}$/);
    const secret = readFileSync(join(data, draft), "utf8").trim();

    const service = await startProcess({ data, flags });
    expect(secretsOf(data)).toEqual(["first-token"]);
    expect(await readToken(data)).toBe(secret);
    await expectReady([service], secret);
    expect(await service.end("SIGTERM")).toBe(0);
  });

  it("leaves, before that commit, a useless draft, and the next start creates the first token", async () => {
    const create = "const isFirst = await createPatiently(";
    const root = plantBugs([{ file: "src/auth/first-token.ts", from: create, to: `${KILL} ${create}` }]);
    const flags = ["--database", await (await sharedCluster()).createDatabase()];
    const data = temporaryFolder();
    expect((await runCommand(["serve", "--port", "0", "--data", data, ...flags], { root })).status).toBeNull();
    const secret = readFileSync(join(data, secretsOf(data)[0]!), "utf8").trim();

    const service = await startProcess({ data, flags });
    expect((await fetch(`${service.url}/plants`, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(401);
    await expectReady([service], await readToken(data));
    expect(await service.end("SIGTERM")).toBe(0);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { parseConfig } from "../../src/app/config.ts";
import { start } from "../../src/app/service.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { VERSION, WORDS_VERSION } from "../../src/store/postgres/engine/schema.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { runCommand } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { openLog, serveOn } from "../support/postgres/store.ts";
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
  function onFatal(reason: Error): never {
    throw reason;
  }
  return start(parseConfig({}, { port: "0", data, database, queueWaitMs: "10000" }), { log: openLog(), metrics: createMetrics(), onFatal });
}

describe(`${TOGETHER} services starting at the same moment on a new database`, () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`all become ready, on one schema, with one first token in only one of their folders, time ${round} of ${ROUNDS}`, async () => {
      const database = await (await sharedCluster()).createDatabase();
      const folders = Array.from({ length: TOGETHER }, () => temporaryFolder());
      const services = await Promise.all(folders.map((data) => startHere(data, database)));

      expect(await queryOnce(database, "SELECT id, version FROM plant_store_schema ORDER BY id")).toEqual([
        { id: "1", version: String(VERSION) },
        { id: "2", version: String(WORDS_VERSION) },
      ]);
      const indexes = "SELECT indexrelid::regclass::text AS name, indisvalid FROM pg_index WHERE indrelid = 'plants'::regclass ORDER BY 1";
      const expected = ["plants_by_name", "plants_by_newest", "plants_by_tag", "plants_by_word", "plants_pkey", "plants_without_tag"].map(
        (index) => ({ name: index, indisvalid: true }),
      );
      expect(await queryOnce(database, indexes)).toEqual(expected);
      expect(await queryOnce(database, "SELECT id FROM tokens")).toEqual([{ id: "first" }]);
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
    const database = await (await sharedCluster()).createDatabase();
    const data = temporaryFolder();
    const slowly = `await new Promise((go) => setTimeout(go, 1500)); ${KEEP}`;
    const slow = serveOn(database, { data, root: plantBugs([{ file: "src/auth/first-token.ts", from: KEEP, to: slowly }]) });
    await until("The first token is committed", async () => {
      const [there] = await queryOnce(database, "SELECT to_regclass('tokens_by_hash') IS NOT NULL AS is_there");
      return there?.["is_there"] === true && (await queryOnce(database, "SELECT FROM tokens")).length === 1;
    });
    const quick = await serveOn(database, { data });
    expect(secretsOf(data)).toEqual(["first-token"]);
    const services = [quick, await slow];
    await expectReady(services, await readToken(data));
    for (const service of services) expect(await service.end("SIGTERM")).toBe(0);
  });
});

describe("a killed start", () => {
  for (const [when, from, to, isAdopted] of [
    ["between the commit of the first token and its file, a draft that the next start adopts", KEEP, `if (isFirst) ${KILL}`, true],
    [
      "before that commit, a useless draft, and the next start creates the first token",
      "const isFirst = await createPatiently(",
      `${KILL} const isFirst = await createPatiently(`,
      false,
    ],
  ] as const)
    it(`leaves, ${when}`, async () => {
      const root = plantBugs([{ file: "src/auth/first-token.ts", from, to }]);
      const database = await (await sharedCluster()).createDatabase();
      const data = temporaryFolder();
      expect((await runCommand(["serve", "--port", "0", "--data", data, "--database", database], { root })).status).toBeNull();
      const [draft = ""] = secretsOf(data);
      expect(draft).toMatch(/^first-token\.\w{6}$/);
      const secret = readFileSync(join(data, draft), "utf8").trim();

      const service = await serveOn(database, { data });
      const headers = { authorization: `Bearer ${secret}` };
      expect((await fetch(`${service.url}/plants`, { headers })).status).toBe(isAdopted ? 200 : 401);
      if (isAdopted) expect(secretsOf(data)).toEqual(["first-token"]);
      await expectReady([service], service.token);
      expect(await service.end("SIGTERM")).toBe(0);
    });
});

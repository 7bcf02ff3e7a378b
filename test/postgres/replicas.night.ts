import { afterAll, describe, expect, it } from "bun:test";
import { watchClock } from "../../src/store/postgres/warnings.ts";
import { FIND_TIME } from "../../src/store/postgres/engine/requirements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "../support/process.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { killServices } from "../support/service-process.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { startRewriter } from "../support/postgres/stand-in.ts";
import { openExecute, openLog, openStore, startReplicas } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

const ROUNDS = 100;
const REVOKED_MS_MAX = 5000;

const database = await (await sharedCluster()).createDatabase();
// A busy machine fails no test.
const { services, ask, askAll } = await startReplicas(database, { flags: ["--queue-wait-ms", "10000"] });
afterAll(killServices);

const ALL = services.map((_, at) => at);

async function command(...words: string[]): Promise<string> {
  const { status, stdout } = await runCommand([...words, "--data", temporaryFolder(), "--database", database]);
  expect(status).toBe(0);
  return stdout.trim();
}

/** Sends a request to each replica at the same moment. Returns the statuses. */
async function race(request: (at: number) => Promise<Response>): Promise<number[]> {
  const answers = await Promise.all(ALL.map(request));
  return answers.map(({ status }) => status);
}

function sorted(statuses: readonly number[]): number[] {
  return statuses.toSorted((left, right) => left - right);
}

describe("three replicas on one database", () => {
  it("read, find by words and tag, change and delete at once what another one created", async () => {
    for (let id = 0; id < 30; id += 1) {
      const [one, two, three] = [id % 3, (id + 1) % 3, (id + 2) % 3];
      const plant = { id, name: `Monstera number${id}`, tag: `tag ${id}` };
      expect((await ask(one, "POST", "/plants", { body: plant })).status).toBe(200);
      for (const at of [two, three]) {
        const read = await ask(at, "GET", `/plants/${id}`);
        expect(await read.json()).toEqual(plant);
        for (const query of [`q=number${id}`, `tag=tag+${id}`, `limit=1&after=${id - 1}`])
          expect(await (await ask(at, "GET", `/plants?${query}`)).json()).toEqual([plant]);
      }
      expect((await ask(two, "PATCH", `/plants/${id}`, { body: { name: `Ficus other${id}`, tag: null } })).status).toBe(200);
      expect(await (await ask(three, "GET", `/plants?q=other${id}`)).json()).toEqual([{ id, name: `Ficus other${id}` }]);
      expect(await (await ask(one, "GET", `/plants?q=number${id}`)).json()).toEqual([]);
      expect((await ask(three, "DELETE", `/plants/${id}`)).status).toBe(204);
      expect(await askAll("GET", `/plants/${id}`)).toEqual([404, 404, 404]);
    }
  });

  it(`keep one of three different plants created with one new id at the same moment, ${ROUNDS} times`, async () => {
    for (let id = 1000; id < 1000 + ROUNDS; id += 1) {
      const statuses = await race((at) => ask(at, "POST", "/plants", { body: { id, name: `of ${at}` } }));
      expect(sorted(statuses)).toEqual([200, 409, 409]);
      for (const at of ALL)
        expect(await (await ask(at, "GET", `/plants/${id}`)).json()).toEqual({ id, name: `of ${statuses.indexOf(200)}` });
    }
  });

  it(`answer 200 to all if the plants are the same, ${ROUNDS} times`, async () => {
    for (let id = 2000; id < 2000 + ROUNDS; id += 1)
      expect(await race((at) => ask(at, "POST", "/plants", { body: { id, name: "same" } }))).toEqual([200, 200, 200]);
  });

  it(`make one of three changes with the same If-Match, and one of three deletes, ${ROUNDS} times`, async () => {
    for (let id = 3000; id < 3000 + ROUNDS; id += 1) {
      const etag = (await ask(id % 3, "POST", "/plants", { body: { id, name: "before" } })).headers.get("etag")!;
      const headers = { "if-match": etag };
      const statuses = await race((at) => ask(at, "PUT", `/plants/${id}`, { headers, body: { name: `of ${at}` } }));
      expect(sorted(statuses)).toEqual([200, 412, 412]);
      const read = await ask(id % 3, "GET", `/plants/${id}`);
      expect(await read.json()).toEqual({ id, name: `of ${statuses.indexOf(200)}` });
      expect(sorted(await race((at) => ask(at, "DELETE", `/plants/${id}`)))).toEqual([204, 404, 404]);
    }
  });

  it(`all accept a token at once that a command created, and refuse it within ${REVOKED_MS_MAX} ms after a revocation`, async () => {
    const secret = await command("token", "create", "--name", "shared");
    expect(await askAll("GET", "/plants", { secret })).toEqual([200, 200, 200]);
    const id = /^(\w{8}) .* shared /m.exec(await command("token", "list"))![1]!;
    await command("token", "revoke", id);
    const clock = startPatientClock();
    // In constant use, so that what a replica remembers of it is as fresh as can be.
    while ((await askAll("GET", "/plants", { secret })).some((status) => status !== 401)) expect(clock.ms()).toBeLessThan(REVOKED_MS_MAX);
  });
});

const MINUTE_MS = 60_000;

it("a clock that differs from that of the database is told each time that it begins to, and when it no longer does", async () => {
  const { execute, close } = openExecute((await sharedCluster()).url());
  const log = openLog();
  let offMs = 0;
  const look = watchClock({ execute, now: () => Date.now() + offMs, log });
  for (offMs of [0, 5 * MINUTE_MS, 5 * MINUTE_MS, 0, -5 * MINUTE_MS, 0, 0]) await look();
  const told = log.lines.map((line) => JSON.parse(line) as { event: string; aheadSeconds?: number });
  expect(told.map(({ event, aheadSeconds = 0 }) => [event, Math.round(aheadSeconds / 60)])).toEqual([
    ["clock_differs", 5],
    ["clock_agrees", 0],
    ["clock_differs", -5],
    ["clock_agrees", 0],
  ]);
  await close();
});

it("a service looks at the clock of its database", async () => {
  const server = await sharedCluster();
  const later = await startRewriter(server, FIND_TIME.text, "SELECT 32503680000000::bigint");
  const log = openLog();
  const store = await openStore(later.url(await server.createDatabase()), { log });
  await until("The service tells it", () => log.lines.some((line) => /"clock_differs","aheadSeconds":-\d{10}/.test(line)));
  await store.close();
  await later.stop();
});

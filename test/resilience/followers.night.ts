import { afterEach, expect, it } from "bun:test";
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readAll, startFollowers, startWriters } from "../support/followers.ts";
import type { Copy, Place } from "../support/followers.ts";
import { findFreePort } from "../support/port.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import { serveOn } from "../support/postgres/store.ts";
import { serverFolder } from "../support/postgres/user.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, startService } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { askUntil, until } from "../support/until.ts";

afterEach(killServices);

const random = openRandom(seedOf("followers"));

/** How long it lasts, in seconds. */
const SECONDS = Number(process.env["FOLLOW_SECONDS"] ?? inForm(60, 3600, 20));

const FAILOVERS = inForm(3, 20, 1);

/** What a copy has that the store does not, or the other way round. */
async function differences(place: Place, { plants }: Copy): Promise<readonly string[]> {
  const stored = await readAll(place);
  const ids = new Set([...stored.keys(), ...plants.keys()]);
  return [...ids].filter((id) => stored.get(id) !== plants.get(id));
}

/** Each copy becomes equal to the store, and was told so often to begin again. */
async function expectEqual(place: Place, followers: readonly Copy[], goneCount: number): Promise<void> {
  for (const copy of followers) {
    const missed = await askUntil(
      () => differences(place, copy),
      (found) => found.length === 0,
    );
    expect(missed.slice(0, 10), copy.kind).toEqual([]);
    expect(copy.goneCount, copy.kind).toBe(goneCount);
  }
}

it(`a copy misses no change in ${SECONDS} s of kill -9, and is never told to begin again`, async () => {
  const data = temporaryFolder();
  const port = await findFreePort();
  const options = { data, flags: ["--port", String(port)] };
  let service = await startService(options);
  const place: Place = { url: () => `http://127.0.0.1:${port}`, token: service.token };
  const followers = startFollowers(place);
  const writers = startWriters(place, { writers: 8, firstId: 1, pauseMs: 5 });
  const end = performance.now() + SECONDS * 1000;
  let kills = 0;
  while (performance.now() < end) {
    await Bun.sleep(1000 + random() * 4000);
    await service.end("SIGKILL");
    kills += 1;
    service = await startService(options);
  }
  await writers.stop();
  await expectEqual(place, followers, 0);
  for (const { applied } of followers) expect(applied).toBeGreaterThan(writers.answered() / 2);
  tell("followers through kill -9", {
    seconds: SECONDS,
    kills,
    answered: writers.answered(),
    applied: followers.map(({ applied }) => applied),
  });
  await Promise.all(followers.map((copy) => copy.stop()));
});

/** The cursor behind all that is stored. */
async function cursorOf({ url, token }: Place): Promise<string> {
  const response = await fetch(`${url()}/plants/export`, { method: "HEAD", headers: { authorization: `Bearer ${token}` } });
  return response.headers.get("x-changes-cursor")!;
}

async function statusAt({ url, token }: Place, cursor: string): Promise<number> {
  const response = await fetch(`${url()}/plants/changes?after=${cursor}`, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
}

async function rename({ url, token }: Place, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const { status } = await fetch(`${url()}/plants/-1`, { method: "PUT", body: JSON.stringify({ name }), headers });
  expect([200, 201]).toContain(status);
}

/** The cursor behind the first change that follows another one. */
async function nextOf({ url, token }: Place, after: string): Promise<string> {
  const response = await fetch(`${url()}/plants/changes?limit=1&after=${after}`, { headers: { authorization: `Bearer ${token}` } });
  expect(await response.json()).toMatchObject([{ plant: { name: "after" } }]);
  return /[?&]after=([^&>]+)/.exec(response.headers.get("link") ?? "")![1]!;
}

/** Writes for a while, and waits until all copies have it. */
async function writeSome(place: Place, followers: readonly Copy[], { firstId, goneCount = 0 }: { firstId: number; goneCount?: number }) {
  const writers = startWriters(place, { writers: 4, firstId });
  await askUntil(writers.answered, (count) => count > 300);
  await writers.stop();
  await expectEqual(place, followers, goneCount);
}

type Restored = Readonly<{ place: Place; keep: () => Promise<void>; restore: () => Promise<void> }>;

/** A copy that has what a restore undid begins again, once. One that stopped before that goes on. */
async function expectTold({ place, keep, restore }: Restored): Promise<void> {
  const followers = startFollowers(place);
  const first = await cursorOf(place);
  await rename(place, "before");
  await writeSome(place, followers, { firstId: 1 });
  const before = await cursorOf(place);
  await keep();
  await rename(place, "after");
  // Who is behind has the plant as it is now.
  const ahead = await nextOf(place, first);
  await writeSome(place, followers, { firstId: 1_000_001 });
  const undone = await cursorOf(place);
  await restore();
  const statuses = async () => Promise.all([first, before, ahead, undone].map((cursor) => statusAt(place, cursor)));
  expect(await statuses()).toEqual([200, 200, 410, 410]);
  await writeSome(place, followers, { firstId: 2_000_001, goneCount: 1 });
  // Now there are as many changes as were undone, and more.
  await writeSome(place, followers, { firstId: 3_000_001, goneCount: 1 });
  expect(await statuses()).toEqual([200, 200, 410, 410]);
  await Promise.all(followers.map((copy) => copy.stop()));
}

it("a folder that is put back makes each copy begin again once", async () => {
  const data = temporaryFolder();
  const kept = temporaryFolder();
  const port = await findFreePort();
  const options = { data, flags: ["--port", String(port)] };
  let service = await startService(options);
  const { token } = service;
  await expectTold({
    place: { url: () => `http://127.0.0.1:${port}`, token },
    async keep() {
      await service.end("SIGTERM");
      cpSync(data, kept, { recursive: true });
      service = await startService(options);
    },
    async restore() {
      await service.end("SIGTERM");
      rmSync(data, { recursive: true });
      cpSync(kept, data, { recursive: true });
      service = await startService(options);
    },
  });
});

it("a PostgreSQL that is put back to an earlier moment makes each copy begin again once", async () => {
  const folder = serverFolder();
  const [data, kept] = [join(folder, "data"), join(folder, "kept")];
  const cluster = await startCluster({ folder });
  const database = await cluster.createDatabase();
  const service = await serveOn(database);
  await expectTold({
    place: { url: () => service.url, token: service.token },
    async keep() {
      await cluster.stop();
      execFileSync("cp", ["-a", data, kept]);
      await cluster.start();
      await until("It is ready", async () => (await fetch(`${service.url}/readyz`)).status === 200);
    },
    async restore() {
      await cluster.stop();
      rmSync(data, { recursive: true });
      execFileSync("cp", ["-a", kept, data]);
      await cluster.start();
      await until("It is ready", async () => (await fetch(`${service.url}/readyz`)).status === 200);
    },
  });
});

it(`a copy of three services misses no change when the primary is killed and its standby promoted, ${FAILOVERS} times`, async () => {
  let primary = await startCluster();
  const name = new URL(await primary.createDatabase("garden")).pathname;
  let standby = await primary.addStandby();
  const fronts = [await startProxy({ target: primary }), await startProxy({ target: standby })];
  const database = `postgres://plants@${fronts.map(({ port }) => `127.0.0.1:${port}`).join()}${name}`;
  const services = [await serveOn(database), await serveOn(database), await serveOn(database)];
  const { token } = services[0]!;
  let turn = 0;
  const place: Place = { url: () => services[(turn += 1) % services.length]!.url, token };
  const followers = startFollowers(place);
  let answered = 0;
  for (let round = 0; round < FAILOVERS; round += 1) {
    const writers = startWriters(place, { writers: 12, firstId: (round + 1) * 1_000_000_000 });
    await Bun.sleep(2000);
    await primary.kill();
    await standby.promote();
    primary = standby;
    standby = await primary.addStandby();
    fronts[round % 2]!.pointAt(standby);
    await Bun.sleep(2000);
    await writers.stop();
    answered += writers.answered();
    await expectEqual(place, followers, 0);
  }
  tell("followers through failovers", { failovers: FAILOVERS, answered, applied: followers.map(({ applied }) => applied) });
  await Promise.all([...followers.map((copy) => copy.stop()), ...fronts.map((front) => front.stop())]);
});

it(`a promotion that lost what was answered last leaves no copy with what is not there, ${FAILOVERS} times`, async () => {
  let primary = await startCluster();
  const name = new URL(await primary.createDatabase("garden")).pathname;
  let standby = await primary.addStandby();
  const fronts = [await startProxy({ target: primary }), await startProxy({ target: standby })];
  const database = `postgres://plants@${fronts.map(({ port }) => `127.0.0.1:${port}`).join()}${name}`;
  const services = [await serveOn(database), await serveOn(database)];
  const { token } = services[0]!;
  let turn = 0;
  const place: Place = { url: () => services[(turn += 1) % services.length]!.url, token };
  const followers = startFollowers(place);
  for (let round = 0; round < FAILOVERS; round += 1) {
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await primary.query("SELECT pg_reload_conf()");
    const writers = startWriters(place, { writers: 16, firstId: (round + 1) * 1_000_000_000 });
    await Bun.sleep(1500 + random() * 500);
    // From no loss at all to that of what readers have seen.
    standby.pause();
    await Bun.sleep(random() * 400);
    await primary.kill();
    standby.resume();
    await standby.promote();
    await writers.stop();
    primary = standby;
    standby = await primary.addStandby();
    fronts[round % 2]!.pointAt(standby);
    for (const copy of followers) {
      const wrong = await askUntil(
        () => differences(place, copy),
        (found) => found.length === 0,
      );
      expect(wrong.slice(0, 10), `${copy.kind} in round ${round}`).toEqual([]);
    }
  }
  tell("followers through lossy promotions", { rounds: FAILOVERS, gone: followers.map(({ goneCount }) => goneCount) });
  await Promise.all([...followers.map((copy) => copy.stop()), ...fronts.map((front) => front.stop())]);
});

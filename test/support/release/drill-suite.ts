import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "bun:test";
import { digestOf } from "../backups.ts";
import { plantOf, startFlood, toJson } from "../flood.ts";
import { exportOf, fillGarden, STATUSES, statusesOf } from "../garden-process.ts";
import { sharedCluster } from "../postgres/cluster.ts";
import { arrive } from "../arrivals.ts";
import type { Arrived } from "../arrivals.ts";
import { inForm, tell } from "../run-form.ts";
import { killServices, PATIENT, startService } from "../service-process.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { needsRoot, openRoot } from "./other-root.ts";
import type { OtherRoot } from "./other-root.ts";

const STORE = "/var/lib/plant-store";
const PROGRAM = "/usr/bin/plant-store";
/** Runs the program as the user of the package. */
const AS_USER = ["setpriv", "--reuid", "plant-store", "--regid", "plant-store", "--clear-groups", PROGRAM];

const PLANTS = inForm(5_000, 1_000_000);
const RATE = 100;
const SECONDS = inForm(1, 20);

/** A machine with the package, whose store is on a disk of its own. */
async function openMachine(path: string) {
  const disk = temporaryFolder();
  const root = await openRoot(disk);
  expect(root.run("dpkg", "--no-triggers", "--install", path)).toMatchObject({ status: 0 });
  const program = root.programOf(PROGRAM, "plant-store");
  return { root, disk, serve: () => startService({ program, data: STORE, flags: PATIENT }) };
}

/** Runs a command as the user of the package, and returns its milliseconds. */
function timed(root: OtherRoot, ...words: readonly string[]): number {
  const began = performance.now();
  const told = root.run(...AS_USER, ...words);
  expect({ ...told, words }).toMatchObject({ status: 0 });
  return performance.now() - began;
}

/** A drill with the package: a machine is lost under load, and another one has its backup alone. */
export function testDrill(path: () => string): void {
  needsRoot().describe("a drill with the package", () => {
    afterAll(killServices);

    it(`brings ${PLANTS} plants and five tokens back on another machine, then moves them to PostgreSQL and back`, async () => {
      const lost = await openMachine(path());
      const service = await lost.serve();
      const tokens = await fillGarden(service, { data: lost.disk, plants: PLANTS });
      const alone = await createAtRate(service.url, tokens.admin, 100_000_000);
      const during = createAtRate(service.url, tokens.admin, 200_000_000);
      const flood = startFlood({ url: service.url, token: tokens.admin, firstId: BigInt(PLANTS + 1), clients: 1 });
      while (flood.count() < 20) await Bun.sleep(5);
      const answeredBefore = flood.count();
      const backup = await backUp(lost.root);
      const { p99Ms } = await during;
      await service.end("SIGKILL");
      const { answered, attempted, others } = await flood.stop();
      expect(others).toEqual([]);
      const kept = join(temporaryFolder(), "garden.gz");
      copyFileSync(lost.root.pathOf(backup.file), kept);
      for (const name of readdirSync(lost.disk)) rmSync(join(lost.disk, name));
      lost.root.close();

      const found = await openMachine(path());
      mkdirSync(found.root.pathOf("/tmp-of-drill"));
      copyFileSync(kept, found.root.pathOf("/tmp-of-drill/garden.gz"));
      found.root.run("chown", "-R", "plant-store", "/tmp-of-drill");
      const file = "/tmp-of-drill/garden.gz";
      const restored = timed(found.root, "restore", file, "--data", STORE);
      const again = await found.serve();
      expect(await statusesOf(again, tokens)).toEqual(STATUSES);
      const lines = new Set(await exportOf(again, tokens.admin));
      const sent = [...Array.from({ length: PLANTS }, (_, at) => BigInt(at + 1)), ...answered.slice(0, answeredBefore)];
      expect(sent.filter((id) => !lines.has(toJson(plantOf(id))))).toEqual([]);
      const possible = new Set([...sent, ...attempted].map((id) => toJson(plantOf(id))));
      const strange = [...lines].filter((line) => !possible.has(line) && !/^\{"id":[12]\d{8},/.test(line));
      expect(strange).toEqual([]);
      expect(await again.end("SIGTERM")).toBe(0);

      const database = await (await sharedCluster()).createDatabase();
      const there = timed(found.root, "restore", file, "--data", `${STORE}/abroad`, "--database", database);
      timed(found.root, "backup", "/tmp-of-drill/there.gz", "--data", `${STORE}/abroad`, "--database", database);
      const back = timed(found.root, "restore", "/tmp-of-drill/there.gz", "--data", `${STORE}/back`);
      timed(found.root, "backup", "/tmp-of-drill/back.gz", "--data", `${STORE}/back`);
      const digests = ["garden", "there", "back"].map((name) => digestOf(found.root.pathOf(`/tmp-of-drill/${name}.gz`)));
      expect(new Set(digests).size).toBe(1);
      found.root.close();
      const seconds = [backup.ms, restored, there, back].map((ms) => `${(ms / 1000).toFixed(1)} s`);
      tell(
        "drill with the package",
        `${lines.size} plants and 6 tokens: backup ${seconds[0]} (${(statSync(kept).size / 1e6).toFixed(1)} MB), restore ${seconds[1]}, into PostgreSQL ${seconds[2]}, back ${seconds[3]}; p99 of ${RATE} creates a second ${alone.p99Ms.toFixed(1)} ms before, ${p99Ms.toFixed(1)} ms meanwhile`,
      );
    });
  });
}

/** Backs up as the timer does, while this process serves nothing else. */
async function backUp(root: OtherRoot): Promise<Readonly<{ file: string; ms: number }>> {
  const folder = "/var/backups/plant-store";
  const began = performance.now();
  const told = await root.start(...AS_USER, "backup", folder, "--data", STORE);
  expect(told).toBe(0);
  return { file: join(folder, readdirSync(root.pathOf(folder))[0]!), ms: performance.now() - began };
}

/** Creates at a fixed rate, by a process of their own. */
async function createAtRate(url: string, token: string, firstId: number): Promise<Arrived> {
  const arrived = await arrive({ url, token, rate: RATE, seconds: SECONDS, connections: 16, firstId });
  expect(Object.keys(arrived.statuses)).toEqual(["200"]);
  return arrived;
}

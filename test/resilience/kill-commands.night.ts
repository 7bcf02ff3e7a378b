import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "bun:test";
import { digestOf, linesOf, runOn } from "../support/backups.ts";
import type { Place } from "../support/backups.ts";
import { newPlace } from "../support/backup-garden.ts";
import { ENGINES, flagsOf } from "../support/engines.ts";
import { importPlants, plantOf, startFlood } from "../support/flood.ts";
import { openGarden } from "../support/garden-process.ts";
import { startCommand } from "../support/process.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

afterEach(killServices);

const KILLS = inForm(4, 100);
const IDS = Array.from({ length: inForm(30_000, 500_000) }, (_, at) => BigInt(at + 1));

const random = openRandom(seedOf("kill -9 of commands"));

/** A service with plants, and with more that arrive meanwhile, of which there are few, to leave time for the commands. */
async function openFlooded() {
  const service = await startService({ flags: PATIENT });
  expect(await importPlants(service, IDS)).toMatchObject({ created: IDS.length, refused: 0 });
  return { ...service, flood: startFlood({ ...service, clients: 4, firstId: BigInt(IDS.length + 1) }) };
}

type Flooded = Awaited<ReturnType<typeof openFlooded>>;

/** All creates meanwhile were answered 200, and nothing is lost. Returns the ids of all plants. */
async function expectUnharmed({ data, url, end, flood }: Flooded): Promise<bigint[]> {
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await until("Creates go on", () => flood.count() > 100);
  const { attempted, answered, others } = await flood.stop();
  expect([others, answered.length]).toEqual([[], attempted.length]);
  expect(await end("SIGTERM")).toBe(0);
  const all = [...IDS, ...attempted];
  expect(judgeFolder(data, { attempted: all, answered: all })).toEqual(SOUND);
  return all;
}

/** The export of a service, or a backup of its folder, into a file that may be there. */
const WRITERS: readonly Readonly<{
  what: string;
  run: (of: Flooded, file: string) => Killable;
  isWhole: (file: string) => Promise<boolean>;
}>[] = [
  {
    what: "an export",
    run: ({ url, token }, file) => startCommand(["export", file, "--force", "--url", url], { environment: { PLANT_STORE_TOKEN: token } }),
    async isWhole(file) {
      const lines = readFileSync(file, "utf8").split("\n");
      return lines.pop() === "" && IDS.every((id, at) => lines[at]?.includes(`"name":"${plantOf(id).name}"`));
    },
  },
  {
    what: "a backup",
    run: ({ data }, file) => startCommand(["backup", file, "--force", "--data", data]),
    isWhole: async (file) => (await runOn({}, ["restore", file, "--dry-run"])).status === 0,
  },
];

type Killable = ReturnType<typeof startCommand>;

/** The files of an unfinished one. */
const partsOf = (file: string) => readdirSync(dirname(file)).filter((name) => name.endsWith(".part"));

describe("kill -9 of a command", () => {
  for (const { what, run, isWhole } of WRITERS)
    it(`leaves ${what} whole or absent, ${KILLS} times, the next command removes the parts, and the service creates plants as before`, async () => {
      const flooded = await openFlooded();
      const fresh = join(temporaryFolder(), "fresh");
      await run(flooded, fresh).killAfter(100 + random() * 50);
      expect(existsSync(fresh)).toBe(false);
      const file = join(temporaryFolder(), "file");
      const { status, ms } = await run(flooded, file).ended;
      expect(status).toBe(0);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const { size } = statSync(file);
        const writing = run(flooded, file);
        await until("It writes", () => partsOf(file).length > 0 || statSync(file).size !== size);
        await writing.killAfter(random() * 0.1 * ms);
        expect(await isWhole(file)).toBe(true);
      }
      expect((await run(flooded, file).ended).status).toBe(0);
      expect([await isWhole(file), partsOf(file)]).toEqual([true, []]);
      const all = await expectUnharmed(flooded);
      tell(`kill -9 of ${what}`, `${KILLS + 1} kills, the file always whole or absent; ${all.length - IDS.length} creates meanwhile`);
    });
});

it("kill -9 of the service during an export makes the command end with 1 and leave no file", async () => {
  const flooded = await openFlooded();
  const { run } = WRITERS[0]!;
  const file = join(temporaryFolder(), "plants.ndjson");
  const { ms } = await run(flooded, join(temporaryFolder(), "plants.ndjson")).ended;
  const exporting = run(flooded, file);
  await until("It writes", () => partsOf(file).length > 0);
  await Bun.sleep(random() * ms * 0.1);
  await flooded.end("SIGKILL");
  expect((await exporting.ended).status).toBe(1);
  expect([existsSync(file), partsOf(file)]).toEqual([false, []]);
});

describe("kill -9 of a restore", () => {
  for (const engine of ENGINES)
    it(`${KILLS} times leaves no part of a store on which a service starts, on ${engine.engine}`, async () => {
      const { place, service } = await openGarden(engine, 20_000);
      const file = join(temporaryFolder(), "garden.gz");
      expect((await startCommand(["backup", file, ...flagsOf(place)]).ended).status).toBe(0);
      await service.end("SIGTERM");
      const { ms } = await startCommand(["restore", file, ...flagsOf(await newPlace(engine.engine))]).ended;
      const seen = { whole: 0, nothing: 0, refused: 0 };
      let target = await newPlace(engine.engine);
      for (let kill = 0; kill < KILLS; kill += 1) {
        // Half of the time is the check of the file.
        await startCommand(["restore", file, ...flagsOf(target)]).killAfter((0.3 + 0.75 * random()) * ms);
        const state = await stateOf(target, file);
        seen[state] += 1;
        if (state === "whole") target = await newPlace(engine.engine);
      }
      expect((await startCommand(["restore", file, ...flagsOf(target)]).ended).status).toBe(0);
      expect(await stateOf(target, file)).toBe("whole");
      tell(`kill -9 of a restore, ${engine.engine}`, `${KILLS} kills: ${JSON.stringify(seen)}, never a part`);
    });

  /** What a store is after a restore that was killed. Throws when it is a part of the backup. */
  async function stateOf(place: Place, file: string): Promise<"whole" | "nothing" | "refused"> {
    const copy = join(temporaryFolder(), "copy.gz");
    const { status, stderr } = await runOn(place, ["backup", copy]);
    if (status !== 0 && stderr.includes("There is no store in")) return "nothing";
    if (status !== 0 && stderr.includes("is what a restore has made so far")) return "refused";
    // Killed while it made the tables, it leaves it to the next command to complete them.
    const isCompleted = stderr.startsWith("Created a new store in ");
    expect([status, isCompleted ? "" : stderr]).toEqual([0, ""]);
    if (linesOf(copy).length === 2) return "nothing";
    expect([isCompleted, digestOf(copy)]).toEqual([false, digestOf(file)]);
    return "whole";
  }
});

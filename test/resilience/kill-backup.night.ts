import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "bun:test";
import { digestOf, linesOf, runOn } from "../support/backups.ts";
import type { Place } from "../support/backups.ts";
import { EXPORT_IN_PLACE as BACKUP_IN_PLACE } from "../support/bugs.ts";
import { ENGINES } from "../support/engines.ts";
import { flagsOf, newPlace, openGarden } from "../support/garden-process.ts";
import { runCommandKillable } from "../support/killable.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

afterEach(killServices);

const KILLS = inForm(3, 50);

const random = openRandom(seedOf("kill -9 of backups"));

describe("kill -9 of a backup", () => {
  /** One whole backup, and as many onto the same file that are killed while they write. How often the file was not whole. */
  async function killBackups(root?: string): Promise<number> {
    const { place, service } = await openGarden(ENGINES[0]!, 30_000);
    const folder = temporaryFolder();
    const target = join(folder, "garden.gz");
    const words = ["backup", target, "--force", ...flagsOf(place)];
    expect((await runCommandKillable(words, root).ended).status).toBe(0);
    let torn = 0;
    for (let kill = 0; kill < KILLS && torn === 0; kill += 1) {
      const { size, ino } = statSync(target);
      const killed = runCommandKillable(words, root);
      await until("it writes", () => readdirSync(folder).length > 1 || statSync(target).size !== size || statSync(target).ino !== ino);
      await killed.killAfter(random() * 200);
      if (!(await isWhole(target))) torn += 1;
      expect((await runCommandKillable(words).ended).status).toBe(0);
    }
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(readdirSync(folder)).toEqual(["garden.gz"]);
    expect(await service.end("SIGTERM")).toBe(0);
    return torn;
  }

  it(`${KILLS} times never leaves a part of one, and the next removes what it left`, async () => {
    expect(await killBackups()).toBe(0);
    tell("kill -9 of a backup", `${KILLS} kills, the file always whole`);
  });

  it("would visibly leave a part if it were written in place", async () => {
    const root = plantBugs(BACKUP_IN_PLACE);
    // A fast machine may have written the whole file before it is killed.
    await until("A part is left", async () => (await killBackups(root)) > 0);
  });
});

async function isWhole(file: string): Promise<boolean> {
  return existsSync(file) && (await runOn({}, ["restore", file, "--dry-run"])).status === 0;
}

describe("kill -9 of a restore", () => {
  for (const engine of ENGINES) {
    it(`${KILLS} times leaves no part of a store on which a service starts, on ${engine.engine}`, async () => {
      const { place, service } = await openGarden(engine, 20_000);
      const file = join(temporaryFolder(), "garden.gz");
      expect((await runCommandKillable(["backup", file, ...flagsOf(place)]).ended).status).toBe(0);
      await service.end("SIGTERM");
      const spare = await newPlace(engine);
      const { ms } = await runCommandKillable(["restore", file, ...flagsOf(spare)]).ended;
      const seen = { whole: 0, nothing: 0, refused: 0 };
      let target = await newPlace(engine);
      for (let kill = 0; kill < KILLS; kill += 1) {
        // Half of the time is the check of the file.
        await runCommandKillable(["restore", file, ...flagsOf(target)]).killAfter((0.3 + 0.75 * random()) * ms);
        const state = await stateOf(target, file);
        seen[state] += 1;
        if (state === "whole") target = await newPlace(engine);
      }
      if ((await stateOf(target, file)) !== "whole")
        expect((await runCommandKillable(["restore", file, ...flagsOf(target)]).ended).status).toBe(0);
      expect(await stateOf(target, file)).toBe("whole");
      tell(`kill -9 of a restore, ${engine.engine}`, `${KILLS} kills: ${JSON.stringify(seen)}, never a part`);
    });
  }

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
    expect(isCompleted).toBe(false);
    expect(digestOf(copy)).toBe(digestOf(file));
    return "whole";
  }
});

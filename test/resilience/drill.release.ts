import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "bun:test";
import { digestOf } from "../support/backups.ts";
import { ENGINES, flagsOf } from "../support/engines.ts";
import { plantOf, startFlood, toJson } from "../support/flood.ts";
import { newPlace } from "../support/backup-garden.ts";
import { exportOf, openGarden, serve, STATUSES, statusesOf } from "../support/garden-process.ts";
import { startCommand } from "../support/process.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

afterEach(killServices);

const PLANTS = inForm(10_000, 1_000_000);

describe("a drill", () => {
  for (const engine of ENGINES) {
    const other = ENGINES.find((one) => one !== engine)!;
    it(`loses a store on ${engine.engine} under load, and a backup brings back all that was answered before it, on both engines`, async () => {
      const { place, service, tokens } = await openGarden(engine, PLANTS);
      const flood = startFlood({ url: service.url, token: tokens.admin, firstId: BigInt(PLANTS + 1), clients: 4 });
      while (flood.count() < 100) await Bun.sleep(5);
      const answeredBefore = flood.count();
      const file = join(temporaryFolder(), "garden.gz");
      const backup = await startCommand(["backup", file, ...flagsOf(place)]).ended;
      expect([backup.status, existsSync(file)]).toEqual([0, true]);
      await service.end("SIGKILL");
      const { answered, attempted, others } = await flood.stop();
      expect(others).toEqual([]);
      rmSync(place["data"]!, { recursive: true });

      // Another machine has the file alone.
      const [home, abroad, again] = await Promise.all([newPlace(engine.engine), newPlace(other.engine), newPlace(engine.engine)]);
      const restore = await startCommand(["restore", file, ...flagsOf(home)]).ended;
      expect([restore.status, restore.stderr]).toEqual([0, expect.any(String)]);
      const restored = await serve(home);
      expect(await statusesOf(restored, tokens)).toEqual(STATUSES);
      const lines = await exportOf(restored, tokens.admin);
      expect(lines.slice(0, PLANTS).every((line, at) => line === toJson(plantOf(BigInt(at + 1))))).toBe(true);
      const kept = new Set(lines.slice(PLANTS));
      expect(answered.slice(0, answeredBefore).filter((id) => !kept.has(toJson(plantOf(id))))).toEqual([]);
      const sent = new Set(attempted.map((id) => toJson(plantOf(id))));
      expect([...kept].filter((line) => !sent.has(line))).toEqual([]);
      expect(await restored.end("SIGTERM")).toBe(0);

      // To the other engine, and back.
      expect((await startCommand(["restore", file, ...flagsOf(abroad)]).ended).status).toBe(0);
      const there = join(temporaryFolder(), "there.gz");
      const moved = await startCommand(["backup", there, ...flagsOf(abroad)]).ended;
      const back = await startCommand(["restore", there, ...flagsOf(again)]).ended;
      const last = join(temporaryFolder(), "last.gz");
      expect((await startCommand(["backup", last, ...flagsOf(again)]).ended).status).toBe(0);
      expect([digestOf(there), digestOf(last)]).toEqual([digestOf(file), digestOf(file)]);
      const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
      const times = [backup, restore, moved, back].map(({ ms }) => seconds(ms));
      tell(
        `drill, ${engine.engine}`,
        `${lines.length} plants and 6 tokens: backup ${times[0]} under load (${(Bun.file(file).size / 1e6).toFixed(1)} MB), restore ${times[1]}; backup of ${other.engine} ${times[2]}, restore back ${times[3]}; ${answered.length} creates meanwhile`,
      );
    });
  }
});

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { newPlace, openGarden } from "../support/backup-garden.ts";
import { runOn } from "../support/backups.ts";
import { ENGINES } from "../support/engines.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const garden = await openGarden("SQLite");
afterAll(() => garden.service.stop());

// Nothing is ever made there, so all commands have the same places.
const places = new Map(await Promise.all(ENGINES.map(async ({ engine }) => [engine, await newPlace(engine)] as const)));

describe("a command in a wrong folder, or on a wrong database", () => {
  for (const words of [
    ["token", "create"],
    ["token", "list"],
    ["token", "revoke", "first"],
    ["export"],
    ["import", "--dry-run", join(PROJECT, "examples/plants.csv")],
    ["backup", join(folder, "wrong.gz")],
    ["check"],
    ["check", "--repair"],
    ["check", "--without-wal"],
  ]) {
    for (const { engine } of ENGINES) {
      it(`makes no store there: ${words.slice(0, 2).join(" ")}, on ${engine}`, async () => {
        const place = places.get(engine)!;
        const data = place["data"]!;
        const onPostgres = words.includes("--without-wal") ? "Only SQLite has a WAL" : "There is no store in this database";
        const says = engine === "SQLite" ? `There is no store in ${data}: name its folder with --data.` : onPostgres;
        for (const isThere of [false, true]) {
          if (isThere) mkdirSync(data);
          else rmSync(data, { recursive: true, force: true });
          expect(await runOn(place, words)).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining(says) });
          expect(existsSync(data) ? readdirSync(data) : undefined).toEqual(isThere ? [] : undefined);
        }
        if (engine === "PostgreSQL") {
          const { database } = place;
          const client = new Client({ connectionString: database });
          await client.connect();
          expect((await client.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).rowCount).toBe(0);
          await client.end();
        }
        expect(existsSync(join(folder, "wrong.gz"))).toBe(false);
      });
    }
  }
});

describe("a start", () => {
  for (const [what, spoil, message] of [
    ["a database that was copied in part", (path: string) => truncateSync(path, statSync(path).size - 4096), "it was copied in part"],
    ["a backup in place of the database", (path: string) => copyFileSync(garden.file, path), "goes in with `plant-store restore`"],
    ["something else in place of the database", (path: string) => writeFileSync(path, "{}".repeat(5000)), "is not a database"],
    ["what a restore left", (path: string) => writeFileSync(`${path}.restoring`, ""), "is what a restore has made so far"],
  ] as const) {
    it(`says what is wrong with ${what}, and changes nothing`, async () => {
      const place = await newPlace("SQLite");
      await (await startTestService(place)).stop();
      const path = join(place["data"]!, "plants.db");
      spoil(path);
      const before = readFileSync(path);
      for (const words of [
        ["serve", "--port", "0"],
        ["token", "list"],
      ]) {
        expect(await runOn(place, words)).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining(message) });
      }
      expect(readFileSync(path).equals(before)).toBe(true);
    });
  }
});

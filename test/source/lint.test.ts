import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const FOLDERS = ["src", "src/client", "src/http", "src/files", "src/domain", "web", "web/import", "packages/client"];
const CALLS = ['"a".normalize("NFC")', '"a"["normalize"]("NFC")', "(({ normalize }: string) => normalize)('a')"];

it("the linter refuses each call that normalizes text, in each folder of the service, the page and the client", () => {
  const root = temporaryFolder();
  copyFileSync(join(PROJECT, ".oxlintrc.json"), join(root, ".oxlintrc.json"));
  for (const folder of FOLDERS) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, "a.ts"), CALLS.map((call, at) => `export const a${at} = ${call};\n`).join(""));
  }
  const { stdout } = spawnSync(join(PROJECT, "node_modules/.bin/oxlint"), ["--format=unix", "."], { cwd: root, encoding: "utf8" });
  const refused = stdout.split("\n").filter((line) => line.includes("'normalize' is restricted"));
  const places = refused.map((line) => line.replace(/^(.*?\.ts:\d+):.*$/, "$1"));
  expect(places.toSorted()).toEqual(FOLDERS.flatMap((folder) => CALLS.map((_, at) => `${folder}/a.ts:${at + 1}`)).toSorted());
});

// Makes a release in dist/release: `npm run release`. The same commit gives the same bytes, in any folder.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./archive.ts";
import { releaseNotes } from "./notes.ts";
import { PLATFORM_NAMES } from "./platforms.ts";
import { PROJECT, VERSION } from "./project.ts";
import { makeRelease } from "./release.ts";
import { sign, trySigning } from "./signature.ts";

const folder = join(PROJECT, "dist/release");

try {
  await release(process.argv.slice(2));
} catch (reason) {
  process.stderr.write(`release: ${reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exitCode = 1;
}

/** For the platforms of these names, or for all if there are none. */
async function release(names: readonly string[]): Promise<void> {
  const strange = names.filter((name) => !PLATFORM_NAMES.some((known) => known === name));
  if (strange.length > 0)
    throw new Error(`There is no platform ${strange.join(" or ")}: take ${PLATFORM_NAMES.join(", ")}, or none for all.`);
  const platforms = PLATFORM_NAMES.filter((name) => names.length === 0 || names.includes(name));

  // What would spoil a release is found before minutes of work.
  const key = process.env["RELEASE_KEY_FILE"];
  const epoch = epochOf();
  const notes = releaseNotes({ isSigned: key !== undefined });
  if (key !== undefined) await trySigning(key);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await makeRelease({ folder, epoch, platforms, notes });
  if (key === undefined)
    process.stderr.write(
      "Not signed: RELEASE_KEY_FILE names no secret key. That is enough for a trial; CONTRIBUTING.md says how to make the key.\n",
    );
  else sign({ folder, key });
  process.stdout.write(`Plant Store ${VERSION} is in ${folder}.\n`);
}

/** In seconds: the time of the commit, unless the environment says another. Throws when something is not committed. */
function epochOf(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined) return Number(given);
  const changed = run("git", ["-C", PROJECT, "status", "--porcelain"]);
  if (changed !== "") throw new Error(`A release is made of what is committed:\n${changed}`);
  return Number(run("git", ["-C", PROJECT, "log", "-1", "--format=%ct"]));
}

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildExecutable } from "../executable.ts";
import { appendToTar, compress, run, withFolder, writeTree } from "./archive.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { makeDebianPackage } from "./debian-package.ts";
import { makeImage } from "./image.ts";
import { licencesText } from "./licences.ts";
import { fetchRuntime, PLATFORMS } from "./platforms.ts";
import type { PlatformName } from "./platforms.ts";
import { PROJECT, VERSION } from "./project.ts";

type ReleaseOptions = Readonly<{
  folder: string;
  /** In seconds: what every file is dated. */
  epoch: number;
  platforms: readonly PlatformName[];
  /** The text of NOTES.md. */
  notes: string;
}>;

/** The sums of all files of a release. */
export const SUMS = "SHA256SUMS";

/** Fills an empty folder with a release. */
export async function makeRelease({ folder, epoch, platforms, notes }: ReleaseOptions): Promise<void> {
  // npm packs files with the modes that they have.
  process.umask(0o022);
  for (const platform of platforms) {
    process.stderr.write(`${platform}\n`);
    await makeFor(platform, { folder, epoch });
  }
  run("npm", ["pack", "--silent", "--prefix", PROJECT, "--pack-destination", folder, join(PROJECT, "packages/client")]);
  writeFileSync(join(folder, `plant-store-${VERSION}.cdx.json`), billOfMaterials(epoch));
  writeFileSync(join(folder, "NOTES.md"), notes);
  const names = readdirSync(folder).toSorted();
  writeFileSync(join(folder, SUMS), names.map((name) => `${sumOf(join(folder, name))}  ${name}\n`).join(""));
}

/** All that runs on one platform. */
async function makeFor(platform: PlatformName, { folder, epoch }: Pick<ReleaseOptions, "folder" | "epoch">): Promise<void> {
  await withFolder(async (staged) => {
    const { target } = PLATFORMS[platform];
    const name = `plant-store-${VERSION}-${platform}`;
    const program = platform === "windows-x64" ? "plant-store.exe" : "plant-store";
    const executable = join(staged, program);
    await buildExecutable(executable, { name: target, runtime: fetchRuntime(platform, staged) });
    const files = {
      [`${name}/${program}`]: { mode: 0o755, copyOf: executable },
      [`${name}/LICENSES`]: { content: licencesText() },
    };
    writeTree(staged, files, epoch);
    const tar = join(staged, "executable.tar");
    appendToTar(tar, { folder: staged, names: [name], epoch });
    writeFileSync(join(folder, `${name}.tar.gz`), await compress(readFileSync(tar)));
    const { architecture } = { architecture: undefined, ...PLATFORMS[platform] };
    if (architecture === undefined) return;
    await makeDebianPackage({ executable, architecture, epoch, folder });
    await makeImage({ executable, architecture, epoch, folder });
  });
}

function sumOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

// Runs an image of ours as an engine would: by a runtime of OCI, with a root that cannot be written and no rights.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../program.ts";
import { PROJECT } from "../process.ts";
import { temporaryFolder } from "../temporary-folder.ts";

type ImageConfig = Readonly<{
  architecture: string;
  config: Readonly<{ User: string; Env: readonly string[]; Entrypoint: readonly string[]; Cmd: readonly string[] }> &
    Readonly<{ Volumes: object; ExposedPorts: object }>;
  rootfs: Readonly<{ diff_ids: readonly string[] }>;
}>;

type Descriptor = Readonly<{ digest: string; size: number }>;

/** An image that is unpacked. */
export type Image = Readonly<{ layout: string; root: string; config: ImageConfig }>;

export function unpackImage(archive: string): Image {
  const folder = temporaryFolder();
  const [layout, root] = ["layout", "root"].map((name) => join(folder, name)) as [string, string];
  for (const path of [layout, root]) mkdirSync(path);
  unpack(archive, layout);
  const read = (path: string): unknown => JSON.parse(readFileSync(join(layout, path), "utf8"));
  const blob = ({ digest }: Descriptor) => `blobs/${digest.replace(":", "/")}`;
  const [named] = (read("index.json") as { manifests: [Descriptor] }).manifests;
  const manifest = read(blob(named)) as { config: Descriptor; layers: Descriptor[] };
  for (const layer of manifest.layers) unpack(join(layout, blob(layer)), root);
  return { layout, root, config: read(blob(manifest.config)) as ImageConfig };
}

function unpack(archive: string, folder: string): void {
  const { status, stderr } = spawnSync("tar", ["-xpf", archive, "--same-owner", "-C", folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** A program that runs the image with these words. The folder that follows `--data` is mounted there, and is its user's. */
export function programOf({ root, config }: Image): string {
  const folder = temporaryFolder();
  const described = join(folder, "image.json");
  writeFileSync(described, JSON.stringify({ root, config }));
  const program = join(folder, "program");
  const bundle = `${process.execPath} ${join(PROJECT, "test/support/release/bundle.ts")} ${described}`;
  const runc = `${findProgram("runc")} --root ${folder}`;
  writeFileSync(program, `#!/bin/sh\nbundle=$(${bundle} "$@") && exec ${runc} run --bundle "$bundle" "plants-$$"\n`, { mode: 0o755 });
  return program;
}

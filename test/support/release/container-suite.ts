// Runs an image of ours as an engine would: by a runtime of OCI, with a root that cannot be written and no rights.
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "bun:test";
import { PROJECT, startProcess } from "../process.ts";
import { readToken } from "../service.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { until } from "../until.ts";
import { findProgram } from "../program.ts";
import { inForm } from "../run-form.ts";
import { needsRoot } from "./other-root.ts";

/** The setting of the runtime at the top of the program, which an executable does not have. */
export const MEMORY = /^#!\/usr\/bin\/env -S (\S+) bun$/m.exec(readFileSync(join(PROJECT, "src/main.ts"), "utf8"))![1]!;

/** The archive of the image, by its path. Runs it where containers are allowed. */
export function testContainer(path: () => string): void {
  let unpacked: Image | undefined;
  const openImage = () => (unpacked ??= unpackImage(path()));

  describe("the image for containers", () => {
    it("is a layout of OCI whose blobs have the names of their contents, and which Docker reads too", () => {
      const image = openImage();
      const blobs = readdirSync(join(image.layout, "blobs/sha256"));
      expect(
        blobs.map((name) =>
          createHash("sha256")
            .update(readFileSync(join(image.layout, "blobs/sha256", name)))
            .digest("hex"),
        ),
      ).toEqual(blobs);
      const [docker] = JSON.parse(readFileSync(join(image.layout, "manifest.json"), "utf8")) as [{ Config: string; Layers: string[] }];
      expect(docker.Layers).toHaveLength(image.config.rootfs.diff_ids.length);
      for (const blob of [docker.Config, ...docker.Layers]) expect(statSync(join(image.layout, blob)).isFile()).toBe(true);
    });

    it("has the user, port, volume and settings of deploy/Containerfile, and no shell", () => {
      const image = openImage();
      const { User, ExposedPorts, Volumes, Env, Entrypoint, Cmd } = image.config.config;
      const file = readFileSync(join(PROJECT, "deploy/Containerfile"), "utf8");
      const valueOf = (word: string) => new RegExp(`^${word} (.*)$`, "m").exec(file.split("\nFROM ").at(-1)!)![1]!;
      expect(User).toBe(valueOf("USER"));
      expect(Object.keys(ExposedPorts)).toEqual([`${valueOf("EXPOSE")}/tcp`]);
      expect(Object.keys(Volumes)).toEqual([valueOf("VOLUME")]);
      expect(Env.join(" ")).toBe(valueOf("ENV"));
      expect(Env).toContain(MEMORY);
      expect([Entrypoint, Cmd]).toEqual([JSON.parse(valueOf("ENTRYPOINT")), JSON.parse(valueOf("CMD"))]);
      const { uid, mode } = statSync(join(image.root, "data"));
      expect([uid, mode & 0o777]).toEqual([Number(User.split(":")[0]), 0o700]);
      expect(readdirSync(join(image.root, "usr/bin"))).toEqual(["plant-store"]);
    });
  });

  needsRoot("runc").describe("the image for containers, run by runc,", () => {
    const program = () => programOf(openImage());

    it("serves without root and without a file system that it could write, but for its volume", async () => {
      const data = temporaryFolder();
      const service = await startProcess({ program: program(), data });
      const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
      const created = await fetch(`${service.url}/plants`, { method: "POST", headers, body: '{"id":1,"name":"Rose"}' });
      expect([created.status, statSync(join(data, "plants.db")).uid]).toEqual([200, 10001]);
      expect(await service.end("SIGTERM")).toBe(0);
    });

    it("brings the search index up to a large import without a folder for temporary files", async () => {
      const data = temporaryFolder();
      const service = await startProcess({ program: program(), data });
      const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/x-ndjson" };
      const plants = Array.from({ length: 100_000 }, (_, id) => JSON.stringify({ id, name: `Rose ${id * 7919} of garden ${id % 977}` }));
      const imported = await fetch(`${service.url}/plants/import`, { method: "POST", headers, body: plants.join("\n") });
      expect([imported.status, await imported.json()]).toMatchObject([200, { created: plants.length }]);
      await until("the last plant is found", async () => {
        const found = await fetch(`${service.url}/plants?q=${7919 * (plants.length - 1)}`, { headers });
        return found.ok && ((await found.json()) as unknown[]).length === 1;
      });
      expect(service.lines.filter((line) => line.includes("search_behind"))).toEqual([]);
      expect(await service.end("SIGTERM")).toBe(0);
    });

    it("passes the tests of the interface", () => expectInterface(program()));
  });
}

type ImageConfig = Readonly<{
  architecture: string;
  config: Readonly<{ User: string; Env: readonly string[]; Entrypoint: readonly string[]; Cmd: readonly string[] }> &
    Readonly<{ Volumes: object; ExposedPorts: object }>;
  rootfs: Readonly<{ diff_ids: readonly string[] }>;
}>;

type Descriptor = Readonly<{ digest: string; size: number }>;

/** An image that is unpacked. */
export type Image = Readonly<{ layout: string; root: string; config: ImageConfig }>;

function unpackImage(archive: string): Image {
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
function programOf({ root, config }: Image): string {
  const folder = temporaryFolder();
  const described = join(folder, "image.json");
  writeFileSync(described, JSON.stringify({ root, config }));
  const program = join(folder, "program");
  const bundle = `${process.execPath} ${join(PROJECT, "test/support/release/bundle.ts")} ${described}`;
  const runc = `${findProgram("runc")} --root ${folder}`;
  writeFileSync(program, `#!/bin/sh\nbundle=$(${bundle} "$@") && exec ${runc} run --bundle "$bundle" "plants-$$"\n`, { mode: 0o755 });
  return program;
}

/** They start a service for each of hundreds of cases, or several on one PostgreSQL. */
const ELSEWHERE = ["export-moment", "model"];

const FILES = inForm(
  ["accept", "plants"].map((name) => `test/interface/${name}.test.ts`),
  globSync("test/interface/*.test.ts", { cwd: PROJECT }).filter((path) => !ELSEWHERE.some((name) => path.includes(name))),
);

/** Runs the tests of the interface against the services that a program starts. */
export function expectInterface(program: string): void {
  const words = ["test", "--timeout", "1800000", ...FILES.map((path) => `./${path}`)];
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: PROJECT,
    encoding: "utf8",
    // The user of a package must get to the data folders, and only root may pass the folders above many a TMPDIR.
    env: { ...process.env, TEST_PROGRAM: program, TMPDIR: "/tmp" },
  });
  const failed = stderr.split("\n").filter((line) => status !== 0 && !/^\((pass|skip)\)/.test(line));
  expect({ status, failed, passed: Number(/^ *(\d+) pass$/m.exec(stderr)?.[1]) > 50 }).toEqual({ status: 0, failed: [], passed: true });
}

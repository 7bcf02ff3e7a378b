// An image for containers, of the executable and the few libraries that it needs, without an engine to build it. The
// archive is a layout of OCI (github.com/opencontainers/image-spec) that has the manifest of Docker beside it, so both read it.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { appendToTar, compress, withFolder, writeTree } from "./archive.ts";
import type { Tree } from "./archive.ts";
import { licencesText } from "./licences.ts";
import type { Architecture } from "./platforms.ts";
import { VERSION } from "./project.ts";

type ImageOptions = Readonly<{ executable: string; architecture: Architecture; epoch: number; folder: string }>;

/** Numeric, so that Kubernetes can tell that it is not root. */
const USER = 10001;

/** Where the C library of an architecture is on this machine: its own, or that of Debian's packages `libc6-…-cross`. */
const LIBRARIES = {
  amd64: {
    folders: ["/lib/x86_64-linux-gnu", "/usr/x86_64-linux-gnu/lib"],
    to: "lib/x86_64-linux-gnu",
    loader: "lib64/ld-linux-x86-64.so.2",
  },
  arm64: {
    folders: ["/lib/aarch64-linux-gnu", "/usr/aarch64-linux-gnu/lib"],
    to: "lib/aarch64-linux-gnu",
    loader: "lib/ld-linux-aarch64.so.1",
  },
} as const satisfies Record<Architecture, unknown>;

/** Where these are in the image: folders of its root. */
const TOPS = { amd64: ["lib", "lib64"], arm64: ["lib"] } as const satisfies Record<Architecture, unknown>;

/** What the runtime is linked to. */
const NAMES = ["libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0"] as const;

/** Makes `plant-store-VERSION-image-ARCHITECTURE.tar` in the folder. */
export async function makeImage({ executable, architecture, epoch, folder }: ImageOptions): Promise<void> {
  await withFolder(async (staged) => {
    const layer = layerOf(staged, { executable, architecture, epoch });
    const layout = layoutOf(layer, await compress(layer), { architecture, epoch });
    writeTree(join(staged, "layout"), layout, epoch);
    const path = join(folder, `plant-store-${VERSION}-image-${architecture}.tar`);
    rmSync(path, { force: true });
    appendToTar(path, { folder: join(staged, "layout"), names: ["."], epoch });
  });
}

/** The whole file system, as a tar. */
function layerOf(staged: string, { executable, architecture, epoch }: Omit<ImageOptions, "folder">): Buffer {
  const root = join(staged, "root");
  const path = join(staged, "layer.tar");
  const { libc, libraries } = librariesOf(architecture);
  const files: Tree = {
    "usr/bin/plant-store": { mode: 0o755, copyOf: executable },
    ...libraries,
    "etc/passwd": { content: `plants:x:${USER}:${USER}::/data:/sbin/nologin\n` },
    "etc/group": { content: `plants:x:${USER}:\n` },
    "etc/nsswitch.conf": { content: "hosts: files dns\n" },
    "usr/share/doc/plant-store/copyright": { content: `${licencesText()}\n${libc}: LGPL 2.1 or later\n` },
  };
  writeTree(root, files, epoch);
  mkdirSync(join(root, "data"));
  chmodSync(join(root, "data"), 0o700);
  appendToTar(path, { folder: root, names: ["etc", ...TOPS[architecture], "usr"], epoch });
  appendToTar(path, { folder: root, names: ["data"], epoch, owner: USER });
  return readFileSync(path);
}

/** The libraries, and which C library that is. */
function librariesOf(architecture: Architecture): Readonly<{ libc: string; libraries: Tree }> {
  const { folders, to, loader } = LIBRARIES[architecture];
  const from = folders.find((folder) => existsSync(join(folder, NAMES[0])));
  if (from === undefined) throw new Error(`The image needs the C library of ${architecture}: apt-get install libc6-${architecture}-cross`);
  const copies = [...NAMES.map((name) => `${to}/${name}`), loader].map((path) => [
    path,
    { mode: 0o755, copyOf: join(from, basename(path)) },
  ]);
  const [libc = "GNU C Library"] = /GNU C Library \([^)]*\)/.exec(readFileSync(join(from, NAMES[0]), "latin1")) ?? [];
  return { libc, libraries: Object.fromEntries(copies) as Tree };
}

type Made = Pick<ImageOptions, "architecture" | "epoch">;

/** The files of a layout with one image. */
function layoutOf(layer: Buffer, packed: Buffer, { architecture, epoch }: Made): Tree {
  const blobs: Record<string, Readonly<{ content: string | Uint8Array }>> = {};
  function blob(type: string, content: string | Uint8Array) {
    const digest = digestOf(content);
    blobs[pathOf(digest)] = { content };
    return { mediaType: `application/vnd.oci.image.${type}`, digest, size: Buffer.byteLength(content) };
  }
  const parts = { config: blob("config.v1+json", configOf(layer, { architecture, epoch })), layers: [blob("layer.v1.tar+gzip", packed)] };
  const manifest = blob(
    "manifest.v1+json",
    JSON.stringify({ schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", ...parts }),
  );
  const named = {
    ...manifest,
    platform: { architecture, os: "linux" },
    annotations: { "org.opencontainers.image.ref.name": `plant-store:${VERSION}` },
  };
  const forDocker = {
    Config: pathOf(parts.config.digest),
    RepoTags: [`plant-store:${VERSION}`],
    Layers: parts.layers.map(({ digest }) => pathOf(digest)),
  };
  return {
    ...blobs,
    "oci-layout": { content: JSON.stringify({ imageLayoutVersion: "1.0.0" }) },
    "index.json": {
      content: JSON.stringify({ schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [named] }),
    },
    "manifest.json": { content: JSON.stringify([forDocker]) },
  };
}

/** How a container of the image is started, and what the image is. */
function configOf(layer: Buffer, { architecture, epoch }: Made): string {
  const created = new Date(epoch * 1000).toISOString();
  const labels = {
    "org.opencontainers.image.title": "Plant Store",
    "org.opencontainers.image.version": VERSION,
    "org.opencontainers.image.licenses": "MIT",
  };
  return JSON.stringify({
    created,
    architecture,
    os: "linux",
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { "8080/tcp": {} },
      Env: ["PATH=/usr/bin", "BUN_JSC_forceRAMSize=268435456", "PLANT_STORE_HOST=0.0.0.0", "PLANT_STORE_DATA=/data"],
      Entrypoint: ["/usr/bin/plant-store"],
      Cmd: ["serve"],
      Volumes: { "/data": {} },
      Labels: labels,
      StopSignal: "SIGTERM",
    },
    rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
    history: [{ created, created_by: "npm run release" }],
  });
}

function digestOf(content: string | Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function pathOf(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}

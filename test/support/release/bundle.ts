// Writes what a runtime of OCI needs to run an image with the words of a command, and prints its folder.
import { chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Image } from "./container-suite.ts";

const [described, ...words] = process.argv.slice(2) as [string, ...string[]];
const { root, config } = JSON.parse(readFileSync(described, "utf8")) as Pick<Image, "root" | "config">;
const [uid, gid] = config.config.User.split(":").map(Number) as [number, number];

const at = words.indexOf("--data") + 1;
const data = at === 0 ? undefined : words[at]!;
if (data !== undefined) {
  mkdirSync(data, { recursive: true });
  chownSync(data, uid, gid);
}

/**
 * What engines mount, and a /tmp that holds the folder of the data: that has the same path inside, so that the test finds
 * what the service names. Nothing else can be written there, as the image has no /tmp.
 */
const mounts = [
  { destination: "/proc", type: "proc", source: "proc" },
  { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "strictatime", "mode=755"] },
  { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=755"] },
  ...(data === undefined ? [] : [{ destination: data, type: "bind", source: data, options: ["bind", "rw"] }]),
];

const bundle = mkdtempSync(join(dirname(described), "bundle-"));
const about = {
  ociVersion: "1.0.0",
  root: { path: root, readonly: true },
  process: {
    user: { uid, gid },
    args: [...config.config.Entrypoint, ...words],
    env: config.config.Env,
    cwd: "/",
    noNewPrivileges: true,
    capabilities: {},
  },
  mounts,
  linux: { namespaces: ["pid", "ipc", "uts", "mount"].map((type) => ({ type })) },
};
writeFileSync(join(bundle, "config.json"), JSON.stringify(about));
process.stdout.write(bundle);

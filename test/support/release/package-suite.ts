import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { startProcess } from "../process.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { expectInterface, MEMORY } from "./container-suite.ts";
import { needsRoot, openRoot } from "./other-root.ts";
import type { OtherRoot } from "./other-root.ts";

const STORE = "/var/lib/plant-store";
const BACKUPS = "/var/backups/plant-store";
const SETTINGS = "/etc/plant-store/environment";
const UNIT = "/usr/lib/systemd/system/plant-store.service";
const PROGRAM = "/usr/bin/plant-store";

/** The package, by its path. Installs it in roots of their own, where that is allowed. */
export function testPackage(path: () => string): void {
  describe("the package for Debian", () => {
    it("has files of root that no one else may write, and settings that only root may read", () => {
      const { stdout } = spawnSync("dpkg-deb", ["--contents", path()], { encoding: "utf8" });
      const files = stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/\s+/));
      expect(files.filter(([mode, owner]) => owner !== "root/root" || !/^.(rw.)r-.r-.$/.test(mode!)).map((file) => file.at(-1))).toEqual([
        `.${SETTINGS}`,
      ]);
      const names = files.map((file) => file.at(-1)!.slice(1));
      expect(names).toEqual(expect.arrayContaining([PROGRAM, UNIT, SETTINGS, UNIT.replace(".service", ".socket")]));
      expect(fieldOf(path(), "conffiles")).toBe(`${SETTINGS}\n`);
    });

    it("has documents whose links lead to files of the package, with the configurations that they name", () => {
      const links = linksIn(path());
      expect(links).toContain("deploy/nginx.conf");
      expect(links).toContain("docs/how-to/upgrade-and-move.md");
      expect(links).toContain("docs/reference/settings.md");
    });
  });

  needsRoot("systemd-analyze").describe("the package for Debian, installed,", () => {
    let root: OtherRoot;
    beforeAll(async () => {
      root = await openRoot();
    });
    afterAll(() => root.close());

    it("makes the user and its folders, keeps plants, settings and what is enabled over an update and a removal, and purges all but backups", async () => {
      expect(await liveWith(path(), root)).toEqual({ kept: true, gone: true });
    });

    it("leaves what is mounted below the store when it is purged", async () => {
      const other = await openRoot();
      pretendSystemd(other);
      const installed = dpkg(other, "--install", path());
      expect(installed).toMatchObject({ status: 0 });
      expect(installed.output).toContain(`is at http://127.0.0.1:8080. To sign in: cat ${STORE}/first-token\n`);
      const mounted = `${STORE}/mounted`;
      const script = `mkdir ${mounted} && mount -t tmpfs tmpfs ${mounted} && touch ${mounted}/kept ${STORE}/gone`;
      expect(other.run("sh", "-c", script).status).toBe(0);
      expect(dpkg(other, "--purge", "plant-store")).toMatchObject({ status: 0 });
      expect(other.run("find", STORE, "-mindepth", "1", "-printf", "%P\n").output).toBe("mounted\nmounted/kept\n");
      other.close();
    });

    it("would visibly lose the plants if a removal deleted what a purge does", async () => {
      const bug = remade(path(), { part: "postrm", text: `"$1" = purge`, instead: `"$1" != upgrade` });
      const other = await openRoot();
      expect((await liveWith(bug, other)).kept).toBe(false);
      other.close();
    });

    it("has a service that passes the tests of the interface, run as its user from where it is installed", () => {
      expect(dpkg(root, "--install", path())).toMatchObject({ status: 0 });
      expectInterface(root.programOf(PROGRAM, "plant-store"));
    });
  });
}

/** A life of the package in a root: whether what should be kept was kept, and what should go is gone. */
async function liveWith(path: string, root: OtherRoot): Promise<Readonly<{ kept: boolean; gone: boolean }>> {
  const install = (file: string) => expect(dpkg(root, "--install", file)).toMatchObject({ status: 0 });
  const first = dpkg(root, "--install", path);
  expect(first).toMatchObject({ status: 0 });
  expect(first.output).toContain("systemd does not run here. Start the service yourself");
  const ownerOf = (folder: string) => root.run("stat", "-c", "%U:%G %a", folder).output.trim();
  expect([STORE, BACKUPS].map(ownerOf)).toEqual(["plant-store:plant-store 700", "plant-store:plant-store 700"]);
  expect(ownerOf(SETTINGS)).toBe("root:root 600");
  expect(root.run("getent", "passwd", "plant-store").output).toMatch(/:\/var\/lib\/plant-store:\/usr\/sbin\/nologin$/m);
  expect(root.run("systemctl", "is-enabled", "plant-store", "plant-store.socket", "plant-store-backup.timer").output).toBe(
    "enabled\ndisabled\ndisabled\n",
  );
  const verified = root.run("systemd-analyze", "verify", "--man=no", UNIT, UNIT.replace(".service", ".socket"));
  // It also speaks of units of others, which may have faults of their own.
  const ours = verified.output.split("\n").filter((line) => line.includes("plant-store"));
  expect({ status: verified.status, ours }).toEqual({ status: 0, ours: [] });
  expect(root.run("grep", "-c", `^Environment=${MEMORY}$`, UNIT).output).toBe("1\n");
  expect(root.run("dpkg", "--verify", "plant-store")).toEqual({ status: 0, output: "" });

  const find = await createPlant(root);
  writeFileSync(root.pathOf(join(BACKUPS, "garden.gz")), "");
  appendFileSync(root.pathOf(SETTINGS), "PLANT_STORE_PORT=8081\n");
  install(remade(path, { part: "control", text: "Version: ", instead: "Version: 9." }));
  expect(await find()).toBe(200);
  // A unit that was disabled stays so.
  root.run("systemctl", "disable", "plant-store");
  install(path);
  expect(root.run("systemctl", "is-enabled", "plant-store").output).toBe("disabled\n");

  expect(root.run("systemctl", "enable", "plant-store.socket", "plant-store-backup.timer").status).toBe(0);
  const asked = pretendSystemd(root);
  expect(dpkg(root, "--remove", "plant-store")).toMatchObject({ status: 0 });
  expect(asked()).toBe("stop plant-store-backup.timer plant-store-backup.service plant-store.socket plant-store.service\n");
  expect(root.run("test", "-e", PROGRAM).status).toBe(1);
  expect(dpkg(root, "--remove", "plant-store").status).toBe(0);
  const kept = root.run("ls", `${STORE}/plants.db`, SETTINGS).status === 0;
  if (!kept) return { kept, gone: false };
  install(path);
  expect(asked()).toEndWith("\nstart plant-store.socket\nstart plant-store-backup.timer\nrestart plant-store.service\n");
  expect(await find()).toBe(200);
  const purged = dpkg(root, "--purge", "plant-store");
  expect(purged).toMatchObject({ status: 0 });
  expect(purged.output).toContain(`The backups in ${BACKUPS} are kept, for root.`);
  const left = [STORE, "/etc/plant-store", PROGRAM, UNIT].filter((name) => root.run("test", "-e", name).status === 0);
  const user = root.run("getent", "passwd", "plant-store").status;
  expect(root.run("stat", "-c", "%U", `${BACKUPS}/garden.gz`).output).toBe("root\n");
  return { kept, gone: left.length === 0 && user !== 0 };
}

/** Lets the scripts of the package believe that systemd runs. Returns what gives all that they ask of it. */
function pretendSystemd(root: OtherRoot): () => string {
  expect(root.run("mkdir", "-p", "/run/systemd/system").status).toBe(0);
  writeFileSync(root.pathOf("/usr/local/sbin/deb-systemd-invoke"), '#!/bin/sh\necho "$*" >>/asked\n', { mode: 0o755 });
  return () => readFileSync(root.pathOf("/asked"), "utf8");
}

/** Without making the index of all manual pages again, which takes the most time. */
function dpkg(root: OtherRoot, ...words: readonly string[]) {
  return root.run("env", "SYSTEMD_OFFLINE=1", "dpkg", "--no-triggers", ...words);
}

/** Creates a plant with the installed service. Returns what finds it, with another start. */
async function createPlant(root: OtherRoot): Promise<() => Promise<number>> {
  const program = root.programOf(PROGRAM, "plant-store");
  const first = await startProcess({ program, data: STORE });
  const token = readFileSync(root.pathOf(`${STORE}/first-token`), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const created = await fetch(`${first.url}/plants`, { method: "POST", headers, body: '{"id":1,"name":"Rose"}' });
  expect(created.status).toBe(200);
  expect(await first.end("SIGTERM")).toBe(0);
  expect(root.run("stat", "-c", "%U %a", `${STORE}/plants.db`).output).toBe("plant-store 600\n");
  return async () => {
    const next = await startProcess({ program, data: STORE });
    const { status } = await fetch(`${next.url}/plants/1`, { headers });
    await next.end("SIGTERM");
    return status;
  };
}

/** Where the links in the documents of the package lead, from their folder. Throws if that is no file of it. */
function linksIn(path: string): readonly string[] {
  const folder = temporaryFolder();
  expect(spawnSync("dpkg-deb", ["--extract", path, folder]).status).toBe(0);
  const documents = join(folder, "usr/share/doc/plant-store");
  const names = globSync("**/*.md", { cwd: documents });
  const links = names.flatMap((name) => {
    const targets = [...readFileSync(join(documents, name), "utf8").matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)];
    return targets.map(([, target]) => join(dirname(name), target!));
  });
  expect(links.filter((link) => !existsSync(join(documents, link)))).toEqual([]);
  const settings = readFileSync(join(folder, SETTINGS), "utf8");
  const [, named] = /(\/usr\/share\/doc\S+)/.exec(settings)!;
  expect(existsSync(join(folder, named!))).toBe(true);
  return links;
}

function fieldOf(path: string, name: string): string {
  return spawnSync("dpkg-deb", ["--info", path, name], { encoding: "utf8" }).stdout;
}

type Edit = Readonly<{ part: string; text: string; instead: string }>;

/** The package with one edit of what dpkg reads of it. */
function remade(path: string, { part, text, instead }: Edit): string {
  const folder = temporaryFolder();
  const control = join(folder, "package/DEBIAN", part);
  expect(spawnSync("dpkg-deb", ["--raw-extract", path, join(folder, "package")]).status).toBe(0);
  const pieces = readFileSync(control, "utf8").split(text);
  expect(pieces).toHaveLength(2);
  writeFileSync(control, pieces.join(instead));
  const made = join(folder, "made.deb");
  expect(spawnSync("dpkg-deb", ["-Znone", "--root-owner-group", "--build", join(folder, "package"), made]).status).toBe(0);
  return made;
}

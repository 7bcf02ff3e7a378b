import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { runCommand } from "../support/process.ts";
import { findProgram, needs } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const CSV = join(import.meta.dir, "../../examples/plants.csv");
/** Codes of the operating system. */
const RAW = /\bE[A-Z]{3,}\b/;

async function makeStore(): Promise<string> {
  const data = join(temporaryFolder(), "data");
  await runCommand(["import", CSV, "--data", data]);
  return data;
}

const traced = needs("strace");

/** Runs a command whose calls, on these paths or on any, are answered as another file system would. */
function runOn(words: readonly string[], answers: readonly string[], paths: readonly string[] = []) {
  const flags = [...paths.flatMap((path) => ["-P", path]), ...answers.flatMap((answer) => ["-e", `inject=${answer}`])];
  return runCommand(words, { under: [findProgram("strace"), "-D", "-f", "-qq", "-o", "/dev/null", ...flags] });
}

/** The answer of statfs for a file system with this number, in the bytes of this processor. */
function numbered(bytes: string): string {
  return `statfs:poke_exit=@arg2=${bytes}00000000`;
}
const FUSE = numbered("46557365");
const NFS = numbered("69690000");

describe("a backup", () => {
  for (const [where, answer, isOnFolder] of [
    ["on a file system without links", "link,linkat:error=EINVAL", false],
    ["on a file system that cannot sync a folder", "fsync:error=EINVAL", true],
  ] as const)
    traced.it(`is written ${where}`, async () => {
      const [data, folder] = [await makeStore(), temporaryFolder()];
      const { status, stderr } = await runOn(["backup", folder, "--data", data], [answer], isOnFolder ? [folder] : []);
      expect([status, stderr]).toEqual([0, ""]);
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^plant-store-.*Z\.gz$/)]);
    });

  traced.it("fails with a message if its folder cannot be synced", async () => {
    const [data, folder] = [await makeStore(), temporaryFolder()];
    const { status, stderr } = await runOn(["backup", folder, "--data", data], ["fsync:error=EIO"], [folder]);
    expect([status, stderr]).toEqual([1, `plant-store: ${folder} cannot be synced (the disk had an I/O error): check its disk.\n`]);
  });
});

describe("a data folder", () => {
  const serve = ["serve", "--port", "0", "--data"];

  for (const [what, error, says] of [
    ["on a disk that has failed", "EIO", "the disk had an I/O error: check it, and use another one."],
    ["whose program has ended", "ENOTCONN", "the program behind this file system has ended: mount it again."],
    ["that its server has lost", "ESTALE", "the server of this file system no longer knows it: mount it again."],
  ] as const)
    for (const words of [serve, ["check", "--data"], ["backup", "x.gz", "--data"]])
      traced.it(`${what} is refused in words by ${words[0]}`, async () => {
        const data = await makeStore();
        const answer = `stat,lstat,statx,newfstatat,access,openat:error=${error}`;
        expect(await runOn([...words, data], [answer], [data])).toMatchObject({ status: 1, stderr: `plant-store: ${data}: ${says}\n` });
      });

  traced.it("is refused on a file system without shared memory, with the kind of the file system and what to do", async () => {
    const data = await makeStore();
    const { status, stderr } = await runOn([...serve, data], ["mmap:error=ENODEV", FUSE], [data, join(data, "plants.db-shm")]);
    expect(status).toBe(1);
    expect(stderr).toContain("choose a folder on a disk of this machine with --data");
    expect(stderr).toContain("SQLite may not be able to use this file system (fuse).");
  });

  traced.it(
    "is refused on a file system without locks, and the message names the locks, not only another service, as a cause",
    async () => {
      const data = await makeStore();
      const { status, stderr } = await runOn([...serve, data], ["fcntl:error=ENOLCK", NFS], [data, join(data, "plants.db.lock")]);
      expect(status).toBe(1);
      expect(stderr).toStartWith("plant-store: Another Plant Store is using this data folder");
      expect(stderr).toEndWith(" If there is none, the locks of this file system (nfs) do not work.\n");
    },
  );

  for (const command of ["serve", "import", "restore"] as const)
    it(`is refused by ${command} if its path is too long for SQLite, and the message says so`, async () => {
      const folder = temporaryFolder();
      const backup = join(folder, "backup.gz");
      await runCommand(["backup", backup, "--data", await makeStore()]);
      const words = { serve, import: ["import", CSV, "--data"], restore: ["restore", backup, "--data"] }[command];
      const data = join(folder, "x".repeat(240), "y".repeat(500 - folder.length - 242));
      const { status, stderr } = await runCommand([...words, data]);
      expect(status).toBe(1);
      expect(stderr).toContain("its path is too long for SQLite: choose a folder with a shorter one with --data.");
      expect(stderr).not.toMatch(RAW);
    });
});

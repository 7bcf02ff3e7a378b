// What a scanner for known weaknesses reads of a release.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, it } from "bun:test";
import { releaseNotes } from "../../deploy/release/notes.ts";
import { HOST } from "../../deploy/release/platforms.ts";
import { VERSION } from "../../deploy/release/project.ts";
import { sign } from "../../deploy/release/signature.ts";
import { billOfMaterials } from "../../deploy/release/bill-of-materials.ts";
import { runtimeParts } from "../../deploy/release/runtime-parts.ts";
import { PROJECT } from "../support/process.ts";
import { findProgram, needs } from "../support/program.ts";
import { testContainer } from "../support/release/container-suite.ts";
import { testDrill } from "../support/release/drill-suite.ts";
import { testPackage } from "../support/release/package-suite.ts";
import { copyProject, makeExecutableIn, makeReleaseIn } from "../support/release/release.ts";
import { inForm } from "../support/run-form.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let release: string;
let executable: string;
beforeAll(() => {
  release = makeReleaseIn(copyProject("here"));
  const unpacked = temporaryFolder();
  expect(spawnSync("tar", ["-xzf", join(release, `plant-store-${VERSION}-${HOST}.tar.gz`), "-C", unpacked]).status).toBe(0);
  executable = join(unpacked, `plant-store-${VERSION}-${HOST}`, "plant-store");
});

/** In another folder, of someone with other habits. */
const ELSEWHERE = { umask: "077", zone: "Asia/Tokyo" };

const ARCHITECTURE = process.arch === "x64" ? "amd64" : "arm64";

describe("a release", () => {
  it("has the executable, the package, the image, the client, the bill of materials, the notes and the sums of all", () => {
    const names = readdirSync(release).toSorted();
    const made = [`${HOST}.tar.gz`, `image-${ARCHITECTURE}.tar`].map((end) => `plant-store-${VERSION}-${end}`);
    const others = [`plant-store-${VERSION}.cdx.json`, `plant-store-client-${VERSION}.tgz`, `plant-store_${VERSION}_${ARCHITECTURE}.deb`];
    expect(names).toEqual(["NOTES.md", "SHA256SUMS", ...made, ...others].toSorted());
    const sums = names.filter((name) => name !== "SHA256SUMS").map((name) => `${sumOf(join(release, name))}  ${name}`);
    expect(readFileSync(join(release, "SHA256SUMS"), "utf8").trimEnd().split("\n").toSorted()).toEqual(sums.toSorted());
  });

  it("has the same bytes when it is made in another folder, with another umask and time zone", () => {
    const copy = copyProject("a longer name, elsewhere");
    inForm(
      () => expect(sumOf(makeExecutableIn(copy, ELSEWHERE))).toBe(sumOf(executable)),
      () =>
        expect(readFileSync(join(makeReleaseIn(copy, ELSEWHERE), "SHA256SUMS"), "utf8")).toBe(
          readFileSync(join(release, "SHA256SUMS"), "utf8"),
        ),
    )();
  });

  it("is not made with a runtime that is not the one of the lockfile, not even for this machine", () => {
    const copy = copyProject("another runtime");
    const lockfile = join(copy, "package-lock.json");
    writeFileSync(lockfile, readFileSync(lockfile, "utf8").replace(/("node_modules\/@oven\/bun-.*?"integrity": "sha512-)\w/gs, "$1_"));
    expect(() => makeReleaseIn(copy)).toThrow(/bun-\S+ is not the one of the lockfile: it is sha512-/);
  });

  it("says in one line why it is refused", () => {
    const { status, stderr } = spawnSync(process.execPath, ["deploy/release/main.ts", "amiga"], { cwd: PROJECT, encoding: "utf8" });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^release: There is no platform amiga: take linux-x64, .*\n$/)]);
  });

  it("names what is in it, with licences, and nothing that only development needs", () => {
    const bill = JSON.parse(readFileSync(join(release, `plant-store-${VERSION}.cdx.json`), "utf8")) as Bill;
    expect(bill).toMatchObject({
      bomFormat: "CycloneDX",
      specVersion: "1.5",
      metadata: { component: { name: "plant-store", version: VERSION } },
    });
    expect(bill.serialNumber).toBeUndefined();
    const names = bill.components.map(({ name }) => name);
    const { dependencies } = JSON.parse(readFileSync(join(import.meta.dir, "../../package.json"), "utf8")) as { dependencies: object };
    expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), "preact", "pg-protocol", "@oven/bun-linux-x64"]));
    expect(names.filter((name) => /^(@types|oxlint|typescript|yaml|ajv|knip|fast-check)/.test(name))).toEqual([]);
    const packages = bill.components.filter(({ purl }) => purl.startsWith("pkg:npm/"));
    expect(
      packages.filter(({ licenses, hashes }) => !(licenses?.[0]?.license?.id ?? licenses?.[0]?.expression) || !hashes?.[0]?.content),
    ).toEqual([]);
    const refs = new Set([...bill.components, bill.metadata.component].map((component) => component["bom-ref"]));
    expect(bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual([]);
  });

  it("has every package of npm that the executable was built from in its bill of materials", async () => {
    const bill = readFileSync(join(release, `plant-store-${VERSION}.cdx.json`), "utf8");
    const packages = await bundledPackages();
    expect(packages).toContain("pg");
    expect(packages).toContain("preact");
    expect(packages.filter((name) => !bill.includes(`"name": "${name}"`))).toEqual([]);
  });

  it("has notes that are a section of the changelog: its own or, unless it is signed, what is not released; and no link to a file", () => {
    const sections = `# Changelog\n\n## Unreleased\n\n- new\n\n## ${VERSION} - 2026-11-23\n\n- this ([Upgrade](docs/how-to/upgrade-and-move.md), [SQLite](https://sqlite.org/))\n\n## 0.9.0\n\n- old\n`;
    expect(releaseNotes({ changelog: sections, isSigned: true })).toBe(
      `# Plant Store ${VERSION}\n\n- this (Upgrade, [SQLite](https://sqlite.org/))\n`,
    );
    const changelog = sections.replace(VERSION, "0.9.9");
    expect(releaseNotes({ changelog })).toBe(`# Plant Store ${VERSION}\n\n- new\n`);
    expect(() => releaseNotes({ changelog, isSigned: true })).toThrow(`has no section ${VERSION}`);
    expect(readFileSync(join(release, "NOTES.md"), "utf8")).toBe(releaseNotes({}));
  });
});

type Component = Readonly<{ "bom-ref": string; name: string; version: string; purl: string }> &
  Readonly<{ licenses?: readonly { license?: { id?: string }; expression?: string }[]; hashes?: readonly { content: string }[] }>;
type Bill = Readonly<{ serialNumber?: string; metadata: { component: Component }; components: readonly Component[] }> &
  Readonly<{ dependencies: readonly { ref: string; dependsOn: readonly string[] }[] }>;

/** What is in node_modules and in the bundles of the service and of the page. */
async function bundledPackages(): Promise<readonly string[]> {
  const inputs = await Promise.all(
    ["src/main.ts", "web/index.html", "web/docs.html"].map(async (path) => {
      const options = { jsx: { runtime: "automatic", importSource: "preact", development: false } } as const;
      const entry = join(import.meta.dir, "../..", path);
      const { metafile } = await Bun.build({
        ...options,
        entrypoints: [entry],
        target: path.startsWith("src") ? "bun" : "browser",
        metafile: true,
      });
      return Object.keys(metafile!.inputs);
    }),
  );
  const names = inputs.flat().map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

needs("minisign").describe("the signature of a release", () => {
  const keys = temporaryFolder();
  const [key, publicKey] = [join(keys, "secret"), join(keys, "public")];
  beforeAll(() => {
    expect(spawnSync(findProgram("minisign"), ["-G", "-W", "-s", key, "-p", publicKey]).status).toBe(0);
    sign({ folder: release, key, publicKey });
  });

  /** As docs/how-to/install.md says. */
  function check(folder: string): boolean {
    const signed = spawnSync("minisign", ["-V", "-p", publicKey, "-m", "SHA256SUMS"], { cwd: folder }).status === 0;
    return signed && spawnSync("sha256sum", ["--check", "--ignore-missing", "SHA256SUMS"], { cwd: folder }).status === 0;
  }

  /** The files that a user would download, with one byte of one of them changed. */
  function damaged(name: string): string {
    const folder = temporaryFolder();
    for (const copied of ["SHA256SUMS", "SHA256SUMS.minisig", "NOTES.md"]) cpSync(join(release, copied), join(folder, copied));
    const bytes = readFileSync(join(folder, name));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(join(folder, name), bytes);
    return folder;
  }

  it("is taken as the documents say, and no other is, nor a file or a sum with a flipped bit", () => {
    expect(check(release)).toBe(true);
    for (const name of ["SHA256SUMS", "SHA256SUMS.minisig", "NOTES.md"]) expect([name, check(damaged(name))]).toEqual([name, false]);
  });

  it("is tried before anything is built: a release that could not be signed is not begun", () => {
    const copy = copyProject("unsigned");
    const changelog = join(copy, "CHANGELOG.md");
    writeFileSync(changelog, readFileSync(changelog, "utf8").replace("## Unreleased", `## ${VERSION}`));
    rmSync(join(copy, "deploy/release.pub"), { force: true });
    expect(() => makeReleaseIn(copy, { key })).toThrow("release.pub is missing");
    expect(existsSync(join(copy, "dist/release"))).toBe(false);
  });

  it("is not made with a key that users do not have", () => {
    const other = join(keys, "other");
    spawnSync("minisign", ["-G", "-W", "-s", other, "-p", `${other}.pub`]);
    const folder = temporaryFolder();
    cpSync(join(release, "SHA256SUMS"), join(folder, "SHA256SUMS"));
    expect(() => sign({ folder, key: other, publicKey })).toThrow("minisign -V ended with 1");
    expect(() => sign({ folder, key, publicKey: join(keys, "none") })).toThrow("is missing: users check the signature with it");
  });
});

testPackage(() => join(release, `plant-store_${VERSION}_${ARCHITECTURE}.deb`));
testDrill(() => join(release, `plant-store_${VERSION}_${ARCHITECTURE}.deb`));
testContainer(() => join(release, `plant-store-${VERSION}-image-${ARCHITECTURE}.tar`));

function sumOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

describe("the bill of materials", () => {
  const bill = JSON.parse(billOfMaterials(0)) as Bill;
  const find = (name: string) => bill.components.find((component) => component.name === name);

  it("has the library of each version that the runtime reports, in this version", () => {
    using database = new Database(":memory:");
    const row = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get();
    expect(find("sqlite")).toMatchObject({ version: row!.version, purl: `pkg:generic/sqlite@${row!.version}` });
    const named = {
      boringssl: "boringssl",
      icu: "icu",
      webkit: "webkit",
      zlib: "zlib-ng",
      zstd: "zstd",
      mimalloc: "mimalloc",
      ares: "c-ares",
    };
    for (const [key, name] of Object.entries(named)) expect(find(name)?.version).toBe(process.versions[key]);
    expect(find("brotli")).toBeDefined();
  });

  it("says that the runtime depends on them, and has each reference once", () => {
    const { dependsOn } = bill.dependencies.find(({ ref }) => ref === `bun@${Bun.version}`)!;
    expect(dependsOn).toEqual(expect.arrayContaining(["bun/sqlite", "bun/boringssl", "bun/brotli"]));
    const refs = bill.components.map((component) => component["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    expect(bill.components.filter(({ licenses }) => !licenses?.length)).toEqual([]);
  });

  it("is not made when the runtime reports a library that no one has described", () => {
    expect(() => runtimeParts({ ...process.versions, libnew: "1.0" })).toThrow(
      "Bun contains libnew: describe it in deploy/release/runtime-parts.ts.",
    );
  });
});

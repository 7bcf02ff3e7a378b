// A package for Debian and its relatives: the executable, units of systemd, documents, and scripts that make the user.
import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { makeManual } from "../manual.ts";
import { run, withFolder, writeTree } from "./archive.ts";
import type { Tree } from "./archive.ts";
import { licencesText } from "./licences.ts";
import type { Architecture } from "./platforms.ts";
import { PROJECT, VERSION } from "./project.ts";

type PackageOptions = Readonly<{ executable: string; architecture: Architecture; epoch: number; folder: string }>;

const UNITS = "deploy/plant-store*.{service,socket,timer}";
/** What administrators read and adapt. Each is where it is in the project, so that links between them hold. */
const DOCUMENTS = ["CHANGELOG.md", "SECURITY.md", "docs/**/*.{md,png}", UNITS, "deploy/{Caddyfile,*.conf,*.cfg,grafana/*,prometheus/*}"];
const DOCUMENTS_FOLDER = "usr/share/doc/plant-store";

/** Makes `plant-store_VERSION_ARCHITECTURE.deb` in the folder. */
export async function makeDebianPackage({ executable, architecture, epoch, folder }: PackageOptions): Promise<void> {
  await withFolder(async (staged) => {
    const files = await filesOf(executable, epoch);
    writeTree(staged, files, epoch);
    writeTree(staged, controlOf(staged, Object.keys(files), architecture), epoch);
    // gzip, because every dpkg reads it, and because the bytes of xz depend on the number of processors.
    const flags = ["--root-owner-group", "--uniform-compression", "-Zgzip", "-z6"];
    const path = join(folder, `plant-store_${VERSION}_${architecture}.deb`);
    run("dpkg-deb", [...flags, "--build", staged, path], { SOURCE_DATE_EPOCH: String(epoch) });
  });
}

async function filesOf(executable: string, epoch: number): Promise<Tree> {
  const manual = await makeManual(new Date(epoch * 1000));
  return {
    "usr/bin/plant-store": { mode: 0o755, copyOf: executable },
    // It may hold the password of a database. systemd reads it as root.
    "etc/plant-store/environment": { mode: 0o600, content: template("environment") },
    "usr/share/man/man1/plant-store.1.gz": { content: gzipSync(manual, { level: 9 }) },
    "usr/share/bash-completion/completions/plant-store": { content: completionFor("bash") },
    "usr/share/zsh/vendor-completions/_plant-store": { content: completionFor("zsh") },
    "usr/share/fish/vendor_completions.d/plant-store.fish": { content: completionFor("fish") },
    ...Object.fromEntries(namesOf(UNITS).map((name) => [name.replace("deploy", "usr/lib/systemd/system"), copyOf(name)])),
    ...documents(),
    [`${DOCUMENTS_FOLDER}/copyright`]: { content: licencesText() },
  };
}

function namesOf(pattern: string): string[] {
  return globSync(pattern, { cwd: PROJECT });
}

function copyOf(name: string): Tree[string] {
  return { copyOf: join(PROJECT, name) };
}

function documents(): Tree {
  const names = DOCUMENTS.flatMap(namesOf);
  const toFile = (name: string) => (name.endsWith(".md") ? { content: withoutDeadLinks(name, names) } : copyOf(name));
  return Object.fromEntries(names.map((name) => [`${DOCUMENTS_FOLDER}/${name}`, toFile(name)]));
}

/** A document in which what leads to a file of the project that is not among the names is no link, but its words. */
function withoutDeadLinks(document: string, names: readonly string[]): string {
  const text = readFileSync(join(PROJECT, document), "utf8");
  return text.replaceAll(/\[([^\]]*)\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g, (link: string, words: string, target: string) =>
    names.includes(join(dirname(document), target)) ? link : words,
  );
}

/** The executable may be for another processor: the source prints the same. */
function completionFor(shell: string): string {
  return run(process.execPath, [join(PROJECT, "src/main.ts"), "completion", shell]);
}

/** What dpkg has to know of the files in the folder. */
function controlOf(folder: string, names: readonly string[], architecture: Architecture): Tree {
  const kilobytes = names.reduce((sum, name) => sum + Math.ceil(statSync(join(folder, name)).size / 1024), 0);
  const values = { VERSION, ARCHITECTURE: architecture, KILOBYTES: String(kilobytes) };
  const control = Object.entries(values).reduce((text, [name, value]) => text.replace(`@${name}@`, value), template("control"));
  const settings = names.filter((name) => name.startsWith("etc/"));
  const sums = names.filter((name) => !settings.includes(name)).map((name) => `${md5Of(join(folder, name))}  ${name}\n`);
  const script = (name: string) => ({ [`DEBIAN/${name}`]: { mode: 0o755, content: template(name) } });
  return {
    "DEBIAN/control": { content: control },
    "DEBIAN/conffiles": { content: settings.map((name) => `/${name}\n`).join("") },
    "DEBIAN/md5sums": { content: sums.toSorted().join("") },
    ...script("postinst"),
    ...script("prerm"),
    ...script("postrm"),
  };
}

function template(name: string): string {
  return readFileSync(join(PROJECT, "deploy/debian", name), "utf8");
}

/** dpkg compares files with it, to find damaged ones. */
function md5Of(path: string): string {
  return createHash("md5").update(readFileSync(path)).digest("hex");
}

// Whose code the executable holds, and on which terms: most licences ask to be passed on with it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import lockfile from "../../package-lock.json" with { type: "json" };
import { PROJECT } from "./project.ts";

type Locked = Readonly<{ version?: string; license?: string; link?: boolean; dev?: boolean }>;

const LOCKED = lockfile.packages as Readonly<Record<string, Locked>>;
const FOLDER = "node_modules/";

/** Needed only to build the pages, and then in them. */
const IN_PAGES = ["preact", "qr"];

/** One runtime for each platform: `bun` stands for it here. */
const RUNTIMES = "@oven/";

/** The packages whose code is in the executable. */
export function shippedPackages(): readonly string[] {
  const needed = Object.entries(LOCKED).filter(([path, { link, dev }]) => path.startsWith(FOLDER) && !link && !dev);
  const names = needed.map(([path]) => path.slice(FOLDER.length)).filter((name) => !name.startsWith(RUNTIMES));
  return [...names, ...IN_PAGES].toSorted();
}

/** The licence of this project, and those of the packages in it. */
export function licencesText(): string {
  const ours = `Plant Store\n\n${readFileSync(join(PROJECT, "LICENSE"), "utf8")}`;
  return [ours, ...shippedPackages().map(licenceOf)].join(`\n${"-".repeat(80)}\n\n`);
}

function licenceOf(name: string): string {
  const { version, license } = LOCKED[FOLDER + name]!;
  const folder = join(PROJECT, FOLDER, name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? TEXTS[name] : readFileSync(join(folder, file), "utf8");
  return `${name} ${version}: ${license}\n${text === undefined ? "" : `\n${text.trim()}\n`}`;
}

/** For packages that hold no text. Some of them only name their licence. */
const TEXTS: Readonly<Record<string, string>> = {
  bun: "The runtime. It holds JavaScriptCore (LGPL 2) and other libraries, which https://bun.com/docs/project/license lists.",
};

import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";

function filesIn(folder: string, ends: string): string[] {
  return [...new Bun.Glob(`${folder}/**/*.{${ends}}`).scanSync(PROJECT)].toSorted();
}

function read(file: string): string {
  return readFileSync(join(PROJECT, file), "utf8");
}

/** The name of a file, without its folder and all that says what kind of file it is. */
function nameOf(file: string): string {
  return basename(file).replace(/\..*$/, "");
}

describe("the style of the page", () => {
  const sheets = filesIn("web", "css").map((file) => ({ file, owner: nameOf(file), classes: classesOf(read(file)) }));
  const parts = filesIn("web", "tsx").map((file) => ({ file, classes: classesUsed(read(file)) }));
  /** The words of which every view may make use; all others are their owner's. */
  const common = new Set(sheets.filter(({ file }) => file.startsWith("web/ui/")).flatMap(({ classes }) => classes));
  const owned = sheets.filter(({ file }) => !file.startsWith("web/ui/"));

  it("has one owner for each class, whose name it begins with", () => {
    for (const { file, owner, classes } of owned) {
      const foreign = classes.filter((name) => !common.has(name) && name !== owner && !name.startsWith(`${owner}-`));
      expect({ file, foreign }).toEqual({ file, foreign: [] });
    }
    const owners = owned.map(({ owner }) => owner);
    expect(owners.filter((owner) => owners.some((other) => owner.startsWith(`${other}-`)))).toEqual([]);
  });

  it("has no class that is used by another than its owner, or not at all, and none that is used and not there", () => {
    for (const { file, classes } of parts) {
      // A component's own sheet, or that of its folder.
      const own = owned.filter(({ owner }) => owner === nameOf(file) || owner === basename(dirname(file)));
      const known = new Set([...common, ...own.flatMap((sheet) => sheet.classes)]);
      expect({ file, unknown: classes.filter((name) => !known.has(name)) }).toEqual({ file, unknown: [] });
    }
    const used = new Set(parts.flatMap(({ classes }) => classes));
    expect(sheets.flatMap(({ classes }) => classes).filter((name) => !used.has(name))).toEqual([]);
  });

  it("is all loaded", () => {
    const loaded = [...read("web/index.css").matchAll(/@import "\.\/(.*)"/g)].map(([, file]) => `web/${file}`);
    expect(loaded.toSorted()).toEqual(sheets.map(({ file }) => file).filter((file) => !/\/(index|docs)\.css$/.test(file)));
  });
});

/** The classes in the selectors of a sheet. */
function classesOf(css: string): string[] {
  const selectors = [...css.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/([^{};]+)\{/g)].map(([, selector = ""]) => selector.trim());
  const classes = selectors.filter((text) => !text.startsWith("@")).flatMap((text) => [...text.matchAll(/\.([a-z][\w-]*)/g)]);
  return [...new Set(classes.map(([, name = ""]) => name))];
}

/** The classes that a component gives its elements: whole words, so that they can be read from the source. */
function classesUsed(tsx: string): string[] {
  const values = [...tsx.matchAll(/\bclass=("[^"]*"|\{[^}]*\})/g)].map(([, value = ""]) => value);
  // What a condition compares with is no class.
  const texts = values.flatMap((value) => [...value.replaceAll(/[!=]== "[^"]*"/g, "").matchAll(/["`]([^"`]*)["`]/g)]);
  return [...new Set(texts.flatMap(([, text = ""]) => text.split(" ").filter(Boolean)))];
}

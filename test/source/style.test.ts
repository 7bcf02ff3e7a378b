import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";

function filesIn(folder: string, ends: string): string[] {
  return [...new Bun.Glob(`${folder}/**/*.{${ends}}`).scanSync(PROJECT)].toSorted();
}

function read(file: string): string {
  return readFileSync(join(PROJECT, file), "utf8");
}

describe("the style of the page", () => {
  const sheets = filesIn("web", "css");

  it("has no class that is not used, and none that is used and not there", () => {
    const there = new Set(sheets.flatMap((file) => classesOf(read(file))));
    const used = new Set(filesIn("web", "tsx").flatMap((file) => classesUsed(read(file))));
    expect([...there].filter((name) => !used.has(name))).toEqual([]);
    expect([...used].filter((name) => !there.has(name))).toEqual([]);
    expect(used.size).toBeGreaterThan(50);
  });

  it("is all loaded", () => {
    const loaded = [...read("web/index.css").matchAll(/@import "\.\/(.*)"/g)].map(([, file]) => `web/${file}`);
    // By the code that needs it: two views may share one.
    const owned = new Set<string>();
    for (const file of filesIn("web", "tsx")) {
      const [, own] = /^import css from "\.\/(.*\.css)" with/m.exec(read(file)) ?? [];
      if (own !== undefined) owned.add(join(dirname(file), own));
    }
    expect([...loaded, ...owned].toSorted()).toEqual(sheets.filter((file) => !/\/(index|docs)\.css$/.test(file)));
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

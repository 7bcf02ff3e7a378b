import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installPackages, PACKAGES } from "../packages.ts";
import { PROJECT } from "../process.ts";
import { findNode } from "./node.ts";

const MAIN = `
import * as client from "plant-store-client";
import { travel } from "./journey";

Object.assign(globalThis, { built: { client, travel } });
`;

/** As Vite's own template for TypeScript has it. */
const COMPILER_OPTIONS = {
  target: "es2023",
  module: "esnext",
  lib: ["ES2023", "DOM"],
  types: [],
  skipLibCheck: false,
  moduleResolution: "bundler",
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  moduleDetection: "force",
  noEmit: true,
  strict: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  erasableSyntaxOnly: true,
  noFallthroughCasesInSwitch: true,
  noUncheckedSideEffectImports: true,
};

/**
 * Gives a project that has only the client the journey as its program, checks its types and builds it with Vite. Returns
 * the folder of the built page, which has both as the global `built`.
 */
export function buildPage(folder: string): string {
  installPackages();
  const journey = readFileSync(join(PROJECT, "test/support/client/journey.ts"), "utf8");
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/journey.ts"), journey.replace("../../../src/client/client.ts", "plant-store-client"));
  writeFileSync(join(folder, "src/main.ts"), MAIN);
  writeFileSync(join(folder, "index.html"), '<!doctype html>\n<script type="module" src="/src/main.ts"></script>\n');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["src"] }));
  run(process.execPath, folder, "--bun", join(PROJECT, "node_modules/typescript/bin/tsc"));
  run(findNode(), folder, join(PACKAGES, "node_modules/vite/bin/vite.js"), "build");
  return join(folder, "dist");
}

function run(program: string, cwd: string, ...words: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}

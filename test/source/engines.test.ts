import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { PROJECT } from "../support/process.ts";

type Packages = Readonly<Record<string, { engines?: { node?: string } }>>;

/** The Node that each part of our range begins with, and one that is yet to come. */
const VERSIONS = [...Array.from(manifest.engines.node.matchAll(/\d+\.\d+\.\d+/g), ([version]) => version), "99.0.0"];

it("every package runs on each Node that package.json names, so that npm ci has nothing to warn of", () => {
  const { packages } = JSON.parse(readFileSync(join(PROJECT, "package-lock.json"), "utf8")) as { packages: Packages };
  expect(VERSIONS.length).toBeGreaterThan(1);
  const strangers = Object.entries(packages).flatMap(([name, { engines }]) =>
    VERSIONS.filter((version) => engines?.node !== undefined && !Bun.semver.satisfies(version, engines.node)).map(
      (version) => `${name} does not support Node ${version}`,
    ),
  );
  expect(strangers).toEqual([]);
});

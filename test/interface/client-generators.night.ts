import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { installPackages, PACKAGES } from "../support/packages.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

// Other people generate clients from the contract. The output of two generators, with a TypeScript that they know,
// compiles and works.

const folder = join(temporaryFolder(), "generated");

function run(tool: string, ...words: readonly string[]): void {
  const path = join(PACKAGES, "node_modules/.bin", tool);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--bun", path, ...words], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`${tool} ended with ${status}:\n${stdout}${stderr}`);
}

/** What every enum of Kotlin has already: a constant with such a name does not compile. */
const KOTLIN = new Set(["name", "ordinal", "entries", "values", "valueOf", "declaringClass"]);

it("no enum of the contract has a value that Kotlin cannot name", () => {
  const text = readFileSync(join(PROJECT, "contract/generated/openapi.json"), "utf8");
  const clashes: unknown[] = [];
  JSON.parse(text, (_key, value: { enum?: string[]; "x-enum-varnames"?: string[] } | null) => {
    clashes.push(...(value?.["x-enum-varnames"] ?? value?.enum ?? []).filter((one) => KOTLIN.has(one)));
    return value;
  });
  expect(text).toContain('"x-enum-varnames"');
  expect(clashes).toEqual([]);
});

type Journey = { travel: (url: string, token: string) => Promise<unknown[]> };

describe("a generated client", () => {
  beforeAll(() => {
    installPackages();
    cpSync(PACKAGES, folder, { recursive: true, filter: (path) => !path.includes("node_modules") });
    symlinkSync(join(PACKAGES, "node_modules"), join(folder, "node_modules"));
    cpSync(join(PROJECT, "contract/generated/openapi.json"), join(folder, "openapi.json"));
    run("openapi-typescript", "openapi.json", "--output", "paths.d.ts");
    run("openapi-ts", "--input", "openapi.json", "--output", "sdk", "--client", "@hey-api/client-fetch", "--silent", "--no-log-file");
  });

  it("compiles strictly", () => {
    run("tsc", "--project", ".");
  });

  for (const module of ["openapi-typescript.ts", "openapi-ts.ts"]) {
    it(`creates a token and gets its secret, creates, lists, reads, puts and patches, and has the number of a 404: ${module}`, async () => {
      const service = await startTestService();
      const { travel } = (await import(join(folder, module))) as Journey;
      const seen = await travel(service.url, service.token);
      await service.stop();
      expect(seen).toEqual(["Ficus", true, 7, "Ficus", 201, { id: 7, name: "Ficus" }, 404, 40401]);
    });
  }
});

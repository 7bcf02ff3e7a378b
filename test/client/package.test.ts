import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { findNode } from "../support/client/node.ts";
import { installClient, packClient } from "../support/client/package.ts";
import { installPackages } from "../support/packages.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

let tarball: string;
let project: string;
beforeAll(() => {
  tarball = packClient();
  project = installClient(tarball);
});

/** Runs a program in the project, and returns what it prints. */
async function run(...command: readonly string[]): Promise<string> {
  const env = { ...process.env, PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
  const child = Bun.spawn([...command], { cwd: project, env, stdout: "pipe", stderr: "inherit" });
  const output = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? output : `${command[0]} failed:\n${output}`;
}

/** More than the client has, and far less than the service. */
const BYTES_MAX = 27_000;

describe("the package of the client", () => {
  it(`is a tarball of at most ${BYTES_MAX} bytes, with its license, its types and one module`, async () => {
    expect(statSync(tarball).size).toBeLessThan(BYTES_MAX);
    const names = (await run("tar", "-tzf", tarball)).trim().split("\n");
    const expected = ["package/LICENSE", "package/README.md", "package/dist/client.d.ts", "package/dist/client.js", "package/package.json"];
    expect(names.filter((name) => !name.endsWith(".d.ts") || name.endsWith("/client.d.ts")).toSorted()).toEqual(expected);
  });

  it("has no dependency, and the version and license of the service", () => {
    const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    const installed = read(join(project, "node_modules/plant-store-client/package.json"));
    const { version, license } = read(join(PROJECT, "package.json"));
    expect(installed).toMatchObject({ version, license });
    expect(Object.keys(installed).filter((name) => /dependencies/i.test(name))).toEqual([]);
    expect(readFileSync(join(PROJECT, "packages/client/LICENSE"), "utf8")).toBe(readFileSync(join(PROJECT, "LICENSE"), "utf8"));
  });

  for (const [runtime, path] of Object.entries({ Node: findNode(), Bun: process.execPath })) {
    it(`runs the program of its README in ${runtime}, in an empty project`, async () => {
      const [, program = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(PROJECT, "packages/client/README.md"), "utf8")) ?? [];
      writeFileSync(join(project, "readme.mjs"), program);
      expect(await run(path, "readme.mjs")).toBe("9223372036854775807n Ginkgo biloba\n");
    });

    it(`can be required in ${runtime}, and keeps all digits of an id`, async () => {
      writeFileSync(
        join(project, "required.cjs"),
        `const { createClient } = require("plant-store-client");
        const plants = createClient({ url: process.env.PLANT_STORE_URL, token: process.env.PLANT_STORE_TOKEN });
        plants.put({ id: -9007199254740993n, name: "Acer" }).then(({ plant }) => console.log(plant.id));`,
      );
      expect(await run(path, "required.cjs")).toBe("-9007199254740993n\n");
    });
  }

  it("can be installed by Bun", () => {
    const empty = installClient(tarball, "bun");
    const { name } = JSON.parse(readFileSync(join(empty, "node_modules/plant-store-client/package.json"), "utf8")) as { name: string };
    expect(name).toBe("plant-store-client");
  });
});

/** The present TypeScript, and the last one that has the module resolution `node`. */
const TYPESCRIPTS = {
  "7.0": join(PROJECT, "node_modules/typescript/bin/tsc"),
  "5.9": join(PROJECT, "test/generators/node_modules/typescript/bin/tsc"),
};

const DOM = { types: [] };
const NODE = { lib: ["es2023"], typeRoots: [join(PROJECT, "node_modules/@types")], types: ["node"] };

const RESOLUTIONS = [
  { version: "7.0", why: "node16", options: { module: "node16", ...DOM }, file: "program.mts" },
  { version: "7.0", why: "nodenext", options: { module: "nodenext", ...DOM }, file: "program.mts" },
  { version: "7.0", why: "nodenext, without the types of a browser", options: { module: "nodenext", ...NODE }, file: "program.mts" },
  { version: "7.0", why: "bundler", options: { module: "esnext", moduleResolution: "bundler", ...DOM }, file: "program.ts" },
  { version: "5.9", why: "nodenext, in CommonJS", options: { module: "nodenext", ...DOM }, file: "program.cts" },
  { version: "5.9", why: "node", options: { module: "esnext", moduleResolution: "node10", ...DOM }, file: "program.ts" },
] as const;

describe("a strict program that uses the client", () => {
  beforeAll(() => installPackages(join(PROJECT, "test/generators")));

  for (const { version, why, options, file } of RESOLUTIONS) {
    it(`compiles with TypeScript ${version} and module resolution ${why}, and checks the types of the package`, async () => {
      const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
      const compilerOptions = { ...strict, target: "es2022", noEmit: true, ...options };
      copyFileSync(join(PROJECT, "test/support/client/typed-program.ts"), join(project, file));
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
      expect(await run(process.execPath, "--bun", TYPESCRIPTS[version], "--project", ".")).toBe("");
    });
  }
});

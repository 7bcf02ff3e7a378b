import { copyFileSync, cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "bun:test";
import { EXPECTED } from "../support/client/journal.ts";
import { findNode, runNode } from "../support/client/node.ts";
import { installClient, packClient } from "../support/client/package.ts";
import { changeTroubles } from "../support/client/trouble.changes.ts";
import { fileTroubles } from "../support/client/trouble.files.ts";
import { requestTroubles } from "../support/client/trouble.requests.ts";
import type { Sufferings } from "../support/client/trouble.ts";
import { installPackages, PACKAGES } from "../support/packages.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

let tarball: string;
let project: string;
beforeAll(() => {
  tarball = packClient();
  project = installClient(tarball);
});

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.stop());

/** Runs a program in the project, and returns what it prints. */
async function run(...command: readonly string[]): Promise<string> {
  const env = { ...process.env, PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
  const child = Bun.spawn([...command], { cwd: project, env, stdout: "pipe", stderr: "inherit" });
  const output = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? output : `${command[0]} failed:\n${output}`;
}

/** Builds programs of the tests into the project, for Node. */
function buildHere(...names: readonly string[]) {
  const entrypoints = names.map((name) => join(PROJECT, "test/support/client", `${name}.ts`));
  return Bun.build({ entrypoints, outdir: project, target: "node", naming: "[name].mjs" });
}

/** More than the client has, and far less than the service. */
const BYTES_MAX = 33_000;

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

  it("runs the program of its README in Node and in Bun, and can be required and keeps all digits of an id", async () => {
    const [, program = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(PROJECT, "packages/client/README.md"), "utf8")) ?? [];
    writeFileSync(join(project, "readme.mjs"), program);
    writeFileSync(
      join(project, "required.cjs"),
      `const { createClient } = require("plant-store-client");
      const plants = createClient({ url: process.env.PLANT_STORE_URL, token: process.env.PLANT_STORE_TOKEN });
      plants.put({ id: -9007199254740993n, name: "Acer" }).then(({ plant }) => console.log(plant.id));`,
    );
    for (const runtime of [findNode(), process.execPath]) {
      expect(await run(runtime, "readme.mjs")).toBe("9223372036854775807n Ginkgo biloba\n");
      expect(await run(runtime, "required.cjs")).toBe("-9007199254740993n\n");
    }
  });

  it("can be installed by Bun", () => {
    const installed = join(installClient(tarball, "bun"), "node_modules/plant-store-client/package.json");
    expect(readFileSync(installed, "utf8")).toContain('"name": "plant-store-client"');
  });
});

/** The present TypeScript, and the last one that has the module resolution `node`. */
const TYPESCRIPTS = { "7.0": join(PROJECT, "node_modules/typescript/bin/tsc"), "5.9": join(PACKAGES, "node_modules/typescript/bin/tsc") };

const DOM = { types: [] };
const NODE = { lib: ["es2023"], typeRoots: [join(PROJECT, "node_modules/@types")], types: ["node"] };

describe("a strict program that uses the client", () => {
  beforeAll(installPackages);

  for (const { version, why, options, file } of [
    { version: "7.0", why: "node16", options: { module: "node16", ...DOM }, file: "program.mts" },
    { version: "7.0", why: "nodenext, without the types of a browser", options: { module: "nodenext", ...NODE }, file: "program.mts" },
    { version: "7.0", why: "bundler", options: { module: "esnext", moduleResolution: "bundler", ...DOM }, file: "program.ts" },
    { version: "5.9", why: "nodenext, in CommonJS", options: { module: "nodenext", ...DOM }, file: "program.cts" },
    { version: "5.9", why: "node", options: { module: "esnext", moduleResolution: "node10", ...DOM }, file: "program.ts" },
  ] as const) {
    it(`compiles with TypeScript ${version} and module resolution ${why}, and checks the types of the package`, async () => {
      const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
      const compilerOptions = { ...strict, target: "es2022", noEmit: true, ...options };
      copyFileSync(join(PROJECT, "test/support/client/typed-program.ts"), join(project, file));
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
      expect(await run(process.execPath, "--bun", TYPESCRIPTS[version], "--project", ".")).toBe("");
    });
  }
});

describe("in Node, as published, the client", () => {
  it("does what it does from the source in Bun", async () => {
    await buildHere("journey");
    const text = `
      import * as client from "plant-store-client";
      const [script, url, token] = process.argv.slice(1);
      const { travel } = await import(script);
      console.log(JSON.stringify(await travel({ client, url, token })));
    `;
    const words = [join(project, "journey.mjs"), service.url, service.token];
    expect(await runNode({ text, words, cwd: project })).toEqual(EXPECTED);
  });

  it("runs the examples", async () => {
    cpSync(join(PROJECT, "examples"), project, { recursive: true });
    expect(await run(findNode(), "add-and-find.ts")).toContain("by words: 9007199254740993 Monstera adansonii\n");
    expect(await run(findNode(), "rename-safely.ts")).toContain("stored: Acer palmatum Thunb. 'Bloodgood', maple\n");
    expect(await run(findNode(), "backup-and-restore.ts", join(project, "plants.backup"))).toContain("saved: ");
  });

  describe("meets", () => {
    const troubles = { ...requestTroubles, ...fileTroubles, ...changeTroubles };
    let sufferings: Sufferings = {};
    beforeAll(async () => {
      await buildHere("trouble", "trouble.requests", "trouble.files", "trouble.changes");
      const text = `
        import * as client from "plant-store-client";
        const [folder] = process.argv.slice(1);
        const { suffer } = await import(folder + "/trouble.mjs");
        const { requestTroubles } = await import(folder + "/trouble.requests.mjs");
        const { fileTroubles } = await import(folder + "/trouble.files.mjs");
        const { changeTroubles } = await import(folder + "/trouble.changes.mjs");
        const sufferings = {};
        for (const some of [requestTroubles, fileTroubles, changeTroubles]) Object.assign(sufferings, await suffer(client, some));
        console.log(JSON.stringify(sufferings));
      `;
      sufferings = (await runNode({ text, words: [project], cwd: project })) as Sufferings;
    });
    for (const [name, [, , outcome, { requests = 1 } = {}]] of Object.entries(troubles))
      it(name, () => {
        expect(sufferings[name]).toEqual({ outcome, requests: requests === "any" ? expect.any(Number) : requests });
      });
  });
});

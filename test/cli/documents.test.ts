import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { needs } from "../support/program.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const service = await startTestService();
afterAll(() => service.stop());

const read = (path: string) => readFileSync(join(PROJECT, path), "utf8");

const PROGRAMS = [
  { path: "README.md", output: "9223372036854775807n Ginkgo biloba\n" },
  { path: "docs/tutorial/first-thousand-plants.md", output: "found Ginkgo biloba\nlisted 9223372036854775807 Ginkgo biloba\n" },
];

describe("a program in a document", () => {
  for (const [at, { path, output }] of [...PROGRAMS, ...PROGRAMS].entries()) {
    it(`runs exactly as written in ${path}, and prints what it created, ${at < PROGRAMS.length ? "before" : "after"} those of the other documents`, async () => {
      const [, program = ""] = /```ts\n(.*?)```/s.exec(read(path)) ?? [];
      expect(await run(program)).toBe(output);
    });
  }
});

needs("curl").it("the commands of the README, of the tutorial and the first example work one after the other in one store", async () => {
  const place = await startTestService();
  try {
    const plants = read("examples/plants.csv");
    await place.request("/plants/import", { method: "POST", headers: { "content-type": "text/csv" }, body: plants });
    const tutorial = read("docs/tutorial/first-thousand-plants.md");
    const [, program = ""] = /```ts\n(.*?)```/s.exec(tutorial) ?? [];
    for (const text of [read("README.md"), tutorial, read("README.md")]) {
      const blocks = shellBlocks(text).filter((block) => /first-token|curl/.test(block) && !block.includes("…"));
      expect(blocks.length).toBeGreaterThan(0);
      const { status, stdout } = await runShell(blocks, place);
      expect([status, stdout]).toEqual([0, expect.not.stringContaining('"error"')]);
      if (text === tutorial) expect(stdout).toStartWith(/prints `(\{.*\})`/.exec(tutorial)![1]!);
    }
    expect(await run(program, { place })).toStartWith("found Ginkgo biloba\n");
    expect(await run(read("examples/add-and-find.ts"), { place })).toStartWith("by id: Monstera adansonii\n");
  } finally {
    await place.stop();
  }
});

type RunOptions = Readonly<{ place?: Readonly<{ url: string; token: string }> }>;

/** Runs a program in a copy of the project, where `tsconfig.json` finds the client, and returns what it prints. */
async function run(program: string, { place = service }: RunOptions = {}): Promise<string> {
  const path = join(plantBugs([]), "program.ts");
  writeFileSync(path, program);
  const environment = { ...process.env, PLANT_STORE_URL: place.url, PLANT_STORE_TOKEN: place.token };
  let output = "";
  const child = spawn(process.execPath, [path], {
    cwd: temporaryFolder(),
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  expect((await once(child, "close"))[0]).toBe(0);
  return output;
}

function shellBlocks(text: string): string[] {
  return Array.from(text.matchAll(/^```sh\n(.*?)^```$/gms), ([, block]) => block!);
}

/** Pastes blocks into a shell beside the data folder of a service. It stops at the first one that fails. */
async function runShell(blocks: readonly string[], { url, token }: TestService) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data/first-token"), token);
  writeFileSync(join(folder, ".curlrc"), "silent\nfail-with-body\n");
  const script = `set -e\nshopt -s expand_aliases\n${blocks.join("").replaceAll("http://127.0.0.1:8080", url)}`;
  const child = spawn("bash", ["-c", script], {
    cwd: folder,
    env: { ...process.env, CURL_HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, stdout, stderr };
}

it("every document that creates the plant with the largest id creates the same one, so its program works behind the others", () => {
  const pages = ["README.md", ...globSync("{docs,packages}/**/*.md", { cwd: PROJECT })];
  const created = pages.flatMap((page) => read(page).match(/\bid\\?"?: ?9223372036854775807n?,.*?\}/g) ?? []);
  expect(created.length).toBeGreaterThan(3);
  expect(created.filter((plant) => !/"Ginkgo biloba\W+tag\W+Ginkgoaceae/.test(plant))).toEqual([]);
});

describe("docs/how-to/call-the-api.md", () => {
  const blocks = shellBlocks(read("docs/how-to/call-the-api.md"));
  const isConditional = (block: string) => block.includes("If-Match");

  needs("curl").it("works from the top: the service does what each block asks for", async () => {
    const { status, stdout } = await runShell(blocks, service);
    expect([status, stdout]).toEqual([0, expect.not.stringContaining('"error"')]);
    expect(stdout).toContain('[{"id":11,"name":"Monstera deliciosa","tag":"tropical"}]');
    expect(stdout).toContain('{"id":11,"name":"Ficus lyrata"}');
    expect(stdout).toContain('{"read":2,"created":2,');
    expect(stdout.match(/"outcome":"\w+"/g)).toEqual(['"outcome":"changed"', '"outcome":"changed"']);
  });

  needs("curl").it("changes nothing without the ETag of the plant that it should change", async () => {
    await service.request("/plants/11", { method: "DELETE" });
    const { status, stderr } = await runShell([blocks[0]!, blocks.find(isConditional)!], service);
    expect([status, stderr]).toEqual([expect.any(Number), expect.stringContaining("etag: was not read")]);
    expect(status).not.toBe(0);
    expect((await service.request("/plants/11")).status).toBe(404);
  });
});

it("docs/reference/commands.md lists every command that --help has, and no other", () => {
  const commandsOf = (...words: string[]) => {
    const { stdout } = spawnSync(process.execPath, [join(PROJECT, "src/main.ts"), ...words, "--help"], { encoding: "utf8" });
    return Array.from(stdout.replace(/.*\nCommands:/s, "").matchAll(/^ {2}(\w+)/gm), ([, name]) => [...words, name].join(" "));
  };
  const inHelp = [...commandsOf(), ...commandsOf("token"), ...commandsOf("changes")].filter(
    (name) => !/^(token|changes)( help)?$/.test(name),
  );
  const inDocs = Array.from(read("docs/reference/commands.md").matchAll(/^\| `([\w ]+)` +\|/gm), ([, name]) => name!);
  expect(inDocs.toSorted()).toEqual(inHelp.toSorted());
});

it("deploy/Containerfile copies every folder that the source imports from, before it builds the page", () => {
  const [install = ""] = read("deploy/Containerfile").split("RUN npm ci");
  const copied = Array.from(install.matchAll(/^COPY (\w+) /gm), ([, folder]) => folder!);
  const imported = ["src", "web"].flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,tsx}`, { cwd: PROJECT }).flatMap((file) =>
      Array.from(read(file).matchAll(/from "(\.[^"]+)"/g), ([, target]) => join(dirname(file), target!).split("/")[0]!),
    ),
  );
  // package.json is in every import of the version, and is copied by name.
  expect(copied.toSorted()).toEqual([...new Set(imported)].filter((folder) => folder !== "package.json").toSorted());
});

it("docs/explanation/architecture.md has a floor for every file of src, and for no other", () => {
  const [, floors = ""] = /## The floors.*?```text\n(.*?)```/s.exec(read("docs/explanation/architecture.md"))!;
  const inMap = Array.from(floors.matchAll(/[\w-]+\.ts\b/g), ([name]) => name);
  expect(inMap.toSorted()).toEqual(globSync("*.ts", { cwd: join(PROJECT, "src") }).toSorted());
});

it("commands under systemd are shown with the user, the settings and the folder of the units", () => {
  const shown = /^as_service\(\) \{\n.*?^\}$/ms.exec(read("docs/how-to/install.md"))?.[0].replaceAll(/\s+(\\\s+)?/g, " ");
  for (const unit of ["deploy/plant-store.service", "deploy/plant-store-backup.service"]) {
    const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(read(unit))![1]!;
    expect(shown).toContain(` --uid=${valueOf("User")} -p EnvironmentFile=${valueOf("EnvironmentFile")} `);
    expect(shown).toContain(` -E ${valueOf("Environment")} plant-store "$@"`);
  }
  // Without the settings, a command works on another store than the service.
  const others = globSync("docs/**/*.md", { cwd: PROJECT }).filter((page) =>
    /(runuser|sudo) .*plant-store (-- )?plant-store /.test(read(page)),
  );
  expect(others).toEqual([]);
});

it("the backup that cron makes in docs/how-to/back-up-and-restore.md is the one of the unit, of the same store", () => {
  const unit = read("deploy/plant-store-backup.service");
  const [, command] = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit)!;
  const [, folder] = /^Environment=PLANT_STORE_DATA=(.*)$/m.exec(unit)!;
  // Where cron starts it, there is no ./data.
  expect(read("docs/how-to/back-up-and-restore.md")).toContain(`30 3 * * * ${command} --data ${folder}\n`);
});

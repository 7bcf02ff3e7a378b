import { closeSync, existsSync, lchownSync, lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { openPartFile } from "../../src/cli/output-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runInside } from "../support/command.ts";
import { cleanEnvironment, PROJECT } from "../support/process.ts";
import { needsThat } from "../support/program.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const folder = temporaryFolder();
const FILE = join(folder, "plants.csv");
const ROWS = "id;tag;name;height\n9223372036854775807;tree;Ginkgo biloba;30\n-5;;Monstera deliciosa;2\n";
writeFileSync(FILE, ROWS);
const WITH_BAD = join(folder, "bad.ndjson");
writeFileSync(WITH_BAD, '{"id":1,"name":"Ficus"}\n{"id":2}\nnonsense\n{"id":3,"name":"Hedera"}\n');
const EXPORTED = "id,name,tag\n-5,Monstera deliciosa,\n9223372036854775807,Ginkgo biloba,tree\n";

/** Unfinished exports. */
function partsIn(where: string): string[] {
  return readdirSync(where).filter((name) => name.includes(".part"));
}

const service = await startTestService();
afterAll(() => service.stop());
const throughService = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };

const COUNTS = "2 read, 2 created, 0 unchanged, 0 replaced, 0 refused";

/** How a table is read: its text, more words, and what is told. */
const TABLES: ReadonlyArray<readonly [what: string, text: string, words: readonly string[], status: number, says: string]> = [
  ["no names", "id,height\n1,2\n", [], 1, "No column looks like one of names: choose it with --name-column, or the line"],
  ["no line of the heading that is asked for", "name\nAcer\n", ["--heading", "9"], 1, "No row begins on the line of --heading"],
  ["no ids, which are not to be made", "Acer\nTilia\n", ["--ids", "file"], 1, "choose one with --id-column, or leave out --ids file"],
  ["only names", "Acer\nTilia\n", [], 0, ": read with separator none; no heading; id: made from the content; name: column 1\n"],
  ["genus and species apart", "Genus,Species\nAcer,rubrum\nTilia,cordata\n", [], 0, "; name: Genus + Species\n"],
  ["a title above", "My plants\n\nname;bed\nAcer;1\nTilia;2\n", [], 0, ": skipped, as they are no plants: 1 row\n"],
  ["ids that are codes", "id,name\nlyjmlx5xd,Acer\nA-17,Tilia\n", [], 1, "choose no column for the ids, so that they are made"],
  ["such ids, and this flag", "id,name\nlyjmlx5xd,Acer\nA-17,Tilia\n", ["--id-column", ""], 0, "id: made from the content; name: name"],
  ["codes in the name", "No,name\nA-1,Acer\nA-2,Tilia\n", ["--name-column", "name", "--name-column", "No"], 0, "; name: name + No\n"],
];

for (const [where, flags, environment, made] of [
  ["on a data folder", ["--data", join(folder, "data")], {}, `Created a new store in ${join(folder, "data")}.\n`],
  ["through a running service", [], throughService, ""],
] as const) {
  const run = (...words: readonly string[]) => runInside([...words, ...flags], environment);

  describe(`plant-store import and export ${where}`, () => {
    it("imports a file, reports the result, and exports it again; a second import changes nothing", async () => {
      const told = `${made}${FILE}: not imported: the column height\n`;
      expect(await run("import", FILE)).toEqual({ status: 0, stderr: told, stdout: `${FILE}: ${COUNTS}\n` });
      const target = join(folder, `${where}.csv`);
      expect(await run("export", target)).toEqual({ status: 0, stdout: `${target}: 1 kB\n`, stderr: "" });
      expect(readFileSync(target, "utf8")).toBe(EXPORTED);
      expect(partsIn(folder)).toEqual([]);
      expect((await run("import", FILE)).stdout).toBe(`${FILE}: 2 read, 0 created, 2 unchanged, 0 replaced, 0 refused\n`);
    });

    for (const [options, row] of [
      [["--tag", "tree"], "9223372036854775807,Ginkgo biloba,tree"],
      [["--untagged"], "-5,Monstera deliciosa,"],
      [["--query", "DELI monst"], "-5,Monstera deliciosa,"],
    ] as const)
      it(`exports only the plants that match ${options.join(" ")}`, async () => {
        expect(await run("export", "--format", "csv", ...options)).toMatchObject({ status: 0, stdout: `id,name,tag\n${row}\n` });
      });

    for (const [what, text, words, status, says] of TABLES)
      it(`says how it reads a table, and which flags help, that has ${what}`, async () => {
        const file = join(folder, "table.csv");
        writeFileSync(file, text);
        const done = await run("import", file, "--dry-run", ...words);
        expect(done).toMatchObject({ status, stderr: expect.stringContaining(says) });
        if (status === 0) expect(done.stdout).toBe(`${file}: dry run: ${COUNTS}\n`);
      });

    it("says on one line of JSON how a table was read, which gives the same plants when it is asked for", async () => {
      const file = join(folder, "said.csv");
      writeFileSync(file, "Genus|Species|Bed\nAcer|rubrum|9\n");
      const { reading, doubts, skipped } = JSON.parse((await run("import", file, "--dry-run", "--json", "--ids", "7")).stdout);
      const text = { encoding: "utf-8", separator: "|", quotes: "double" };
      const columns = { heading: 1, id: "", name: ["Genus", "Species"], tag: "Bed", firstId: 7, emptyNames: false };
      expect([reading, doubts, skipped]).toEqual([{ ...text, ...columns }, [], 0]);
    });

    it("asks for the encoding of a file where it is not clear, and stores nothing before", async () => {
      const file = join(folder, "korean.csv");
      writeFileSync(
        file,
        Buffer.from("696407226e616d650a312cc0bac7e0b3aab9ab0a322cb8f0b6f50a332cbcd2b3aab9ab0a".replace("0722", "2c"), "hex"),
      );
      const { status, stdout, stderr } = await run("import", file, "--dry-run");
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain("\n  --encoding euc-kr: 은행나무, 모란, 소나무\n");
      expect(await run("import", file, "--dry-run", "--encoding", "euc-kr")).toMatchObject({ status: 0 });
    });

    it("takes plants out of a list in an object, and says how to do so where that is deeper", async () => {
      const file = join(folder, "db.json");
      const plants = [1, 2].map((id) => ({ id, name: "Acer" }));
      for (const indent of [0, 2]) {
        writeFileSync(file, JSON.stringify({ count: 1, plants }, undefined, indent));
        const list = expect.stringContaining("one JSON list");
        expect(await run("import", file, "--dry-run")).toMatchObject({ status: 0, stdout: `${file}: dry run: ${COUNTS}\n`, stderr: list });
      }
      writeFileSync(file, JSON.stringify({ garden: { plants } }, undefined, 2));
      const told = expect.stringContaining("`jq .plants` takes a list of that name out of it");
      expect(await run("import", file, "--dry-run")).toMatchObject({ status: 1, stderr: told });
      writeFileSync(file, '{"id":1,"name":"Acer"}\n{\n');
      expect((await run("import", file, "--dry-run")).stderr).not.toContain("jq");
    });

    it("ends with 1 if lines are refused, names each, also in a file if asked to, and imports the others", async () => {
      const { status, stdout, stderr } = await run("import", WITH_BAD);
      expect([status, stdout]).toEqual([1, `${WITH_BAD}: 4 read, 2 created, 0 unchanged, 0 replaced, 2 refused\n`]);
      expect(stderr).toMatch(
        /^\S+bad\.ndjson:2: 40005 The field `name` is missing: add it\.\n\S+bad\.ndjson:3: 40001 The body is not valid JSON.*\n$/,
      );
      const refused = join(folder, "refused.txt");
      expect(await run("import", WITH_BAD, "--refused", refused, "--force")).toMatchObject({ status: 1, stderr: "" });
      expect(readFileSync(refused, "utf8")).toBe(stderr);
    });

    it("stores nothing on a dry run, and replaces on demand", async () => {
      const other = join(folder, "other.ndjson");
      writeFileSync(other, '{"id":1,"name":"Ficus carica"}\n');
      const counts = "1 read, 0 created, 0 unchanged, 1 replaced, 0 refused\n";
      expect((await run("import", other, "--on-conflict", "replace", "--dry-run")).stdout).toBe(`${other}: dry run: ${counts}`);
      expect(await run("import", other, "--on-conflict=replace")).toMatchObject({ status: 0, stdout: `${other}: ${counts}` });
      expect((await run("export", "--format", "csv", "--profile", "dwc")).stdout).toBe(
        "catalogNumber,scientificName,tag\n-5,Monstera deliciosa,\n1,Ficus carica,\n3,Hedera,\n9223372036854775807,Ginkgo biloba,tree\n",
      );
    });
  });
}

describe("plant-store import and export", () => {
  it("refuse the imported file as the one for refused lines", async () => {
    const { status, stderr } = await runInside(["import", FILE, "--refused", FILE, "--data", folder]);
    expect([status, stderr]).toEqual([1, `plant-store: ${FILE} is one of the files to import: write the refused lines to another file.\n`]);
  });

  it("suggest the way through the service if one uses the folder", async () => {
    const { status, stderr } = await runInside(["export", "--data", join(service.tokenFile!, "..")]);
    expect(status).toBe(1);
    expect(stderr).toContain("Another Plant Store is using this data folder");
    expect(stderr).toContain("To import or export beside it, use --url.");
  });

  it("use the store that a flag names, and not the service of the variable; both flags are refused", async () => {
    const data = join(folder, "of-flag");
    const imported = await runInside(["import", WITH_BAD, "--data", data], throughService);
    expect(imported.stderr).toStartWith(`Created a new store in ${data}.\n`);
    const exported = await runInside(["export", "--format", "csv", "--data", data], throughService);
    expect(exported.stdout).toBe("id,name,tag\n1,Ficus,\n3,Hedera,\n");
    const { status, stderr } = await runInside(["export", "--data", data, "--url", service.url], throughService);
    expect([status, stderr]).toEqual([1, "plant-store: --url names a service, and --data a store without one: leave out one of them.\n"]);
  });

  it("recognize NDJSON by its name even if its first line is bad, and a pipe by its beginning", async () => {
    const badFirst = join(folder, "first.ndjson");
    writeFileSync(badFirst, 'oops\n{"id":900,"name":"Acer"}\n');
    const { status, stdout } = await runInside(["import", badFirst, "--data", join(folder, "new")]);
    expect([status, stdout]).toEqual([1, `${badFirst}: 2 read, 1 created, 0 unchanged, 0 replaced, 1 refused\n`]);
  });

  it("leave no file behind if an export fails", async () => {
    const target = join(folder, "never.csv");
    const { status } = await runInside(["export", target], { ...throughService, PLANT_STORE_TOKEN: "plant_x" });
    expect([status, existsSync(target), partsIn(folder)]).toEqual([1, false, []]);
  });
});

describe("a file that a command writes", () => {
  for (const [what, words] of [
    ["an export", (file: string) => ["export", file]],
    ["the list of refused lines", (file: string) => ["import", WITH_BAD, "--refused", file]],
  ] as const) {
    it(`is not overwritten without --force, or followed if it is a link: ${what}`, async () => {
      const own = temporaryFolder();
      const victim = join(own, "victim");
      writeFileSync(victim, "precious");
      const file = join(own, "file");
      const link = join(own, "link");
      const nowhere = join(own, "nowhere");
      writeFileSync(file, "old");
      symlinkSync(victim, link);
      symlinkSync(join(own, "new"), nowhere);
      for (const path of [file, link, nowhere]) {
        const { status, stdout, stderr } = await runInside(words(path), throughService);
        expect([status, stdout, stderr]).toEqual([
          1,
          "",
          `plant-store: ${path} already exists: name another file, or overwrite it with --force.\n`,
        ]);
      }
      expect([readFileSync(file, "utf8"), readFileSync(victim, "utf8"), existsSync(join(own, "new"))]).toEqual(["old", "precious", false]);
      await runInside([...words(file), "--force"], throughService);
      expect(readFileSync(file, "utf8")).not.toBe("old");
      await runInside([...words(link), "--force"], throughService);
      expect([readFileSync(victim, "utf8"), existsSync(join(own, "new"))]).toEqual(["precious", false]);
      expect(partsIn(own)).toEqual([]);
    });
  }

  it("is written under a name at which no link can be planted, and the leftovers of a killed export are removed", async () => {
    const own = temporaryFolder();
    const victim = join(own, "victim");
    writeFileSync(victim, "precious");
    const file = join(own, "pl\nants.ndjson");
    symlinkSync(victim, `${file}.part`);
    const left = `${file}.4194305-${"0".repeat(18)}.part`;
    writeFileSync(left, "left");
    const others = [`${file}.${process.pid}-${"0".repeat(18)}.part`, `${file}.mine.part`];
    for (const other of others) writeFileSync(other, "someone's");
    expect((await runInside(["export", file], throughService)).status).toBe(0);
    expect([readFileSync(victim, "utf8"), readlinkSync(`${file}.part`), lstatSync(file).isFile()]).toEqual(["precious", victim, true]);
    expect(readFileSync(file, "utf8")).toContain('"Ginkgo biloba"');
    expect([existsSync(left), ...others.map((other) => readFileSync(other, "utf8"))]).toEqual([false, "someone's", "someone's"]);
  });

  it("does not replace a file that appeared meanwhile, without --force", () => {
    const own = temporaryFolder();
    for (const [isForced, expected] of [
      [false, "someone's"],
      [true, ""],
    ] as const) {
      const path = join(own, `${isForced}.csv`);
      const part = openPartFile({ kind: "file", path, isForced });
      writeFileSync(path, "someone's");
      if (isForced) part.keep();
      else expect(() => part.keep()).toThrow(`${path} already exists: name another file, or overwrite it with --force.`);
      part.close();
      closeSync(part.fd);
      expect(readFileSync(path, "utf8")).toBe(expected);
    }
    expect(partsIn(own)).toEqual([]);
  });

  for (const [what, words] of [
    ["an export", (file: string) => ["export", file, "--force"]],
    ["the list of refused lines", (file: string) => ["import", WITH_BAD, "--refused", file, "--force"]],
  ] as const) {
    it(`is never a file of a store, even with --force: ${what}`, async () => {
      const data = join(temporaryFolder(), "data");
      expect((await runInside(["import", FILE, "--data", data])).status).toBe(0);
      const names = ["plants.db", "plants.db-wal", "plants.db.lock", "plants.db.search", "plants.db.damaged", "first-token", "last-backup"];
      const told = await Promise.all(names.map((name) => runInside([...words(join(data, name)), "--data", data])));
      told.push(await runInside(words(join(data, "plants.db")), throughService));
      for (const [at, { status, stderr }] of told.entries()) {
        const file = join(data, names[at] ?? "plants.db");
        expect([status, stderr]).toEqual([1, `plant-store: ${file} has the name of a file of a store: choose another name.\n`]);
      }
      expect((await runInside(["export", "--data", data])).stdout).toContain('"Ginkgo biloba"');
    });
  }

  // Only root can create files of another user.
  needsThat("root", process.getuid?.() === 0).it("is not written to a pipe or a link of another user", async () => {
    const own = temporaryFolder();
    const pipe = join(own, "pipe");
    const link = join(own, "link");
    Bun.spawnSync(["mkfifo", pipe]);
    symlinkSync("/dev/null", link);
    for (const path of [pipe, link]) {
      lchownSync(path, 65534, 65534);
      const { status, stderr } = await runInside(["export", path, "--force"], throughService);
      const message = `plant-store: ${path} is a pipe or link of another user: name another file.\n`;
      expect([status, stderr]).toEqual([1, message]);
    }
  });

  it("may be a device, which is written directly", async () => {
    const { status, stdout } = await runInside(["export", "/dev/null"], throughService);
    expect([status, stdout, lstatSync("/dev/null").isCharacterDevice()]).toEqual([0, "", true]);
  });
});

it("an export with the guard against formulas has what the service exports with it, and is CSV", async () => {
  const names = ["=cmd|' /C calc'!A0", "＋1", "－1", "＠SUM(1)", "a=1"];
  for (const [at, name] of names.entries()) await service.post(JSON.stringify({ id: 80 + at, name }));
  const guarded = Buffer.from(await (await service.request("/plants/export?guardFormulas=true")).arrayBuffer()).toString();
  expect(guarded).toContain("80,'=cmd|' /C calc'!A0,\n81,'＋1,\n82,'－1,\n83,'＠SUM(1),\n84,a=1,\n");
  for (const format of [[], ["--format", "csv"]])
    expect(await runInside(["export", "--guard-formulas", ...format], throughService)).toMatchObject({ status: 0, stdout: guarded });
  expect(await runInside(["export", "--guard-formulas", "--format", "ndjson"], throughService)).toMatchObject({
    status: 1,
    stderr: "plant-store: The guard against formulas works with CSV only: ask for the format csv, or for none.\n",
  });
});

describe("an export to a terminal", () => {
  const name = "Esc \u001b[31m\u009b31m\u202e\u{1f33f}";
  const lines = join(folder, "terminal.ndjson");
  writeFileSync(lines, `${JSON.stringify({ id: 77, name })}\n`);

  for (const [where, flags, environment] of [
    ["of a data folder", ["--data", join(folder, "terminal")], {}],
    ["of a running service", [], throughService],
  ] as const) {
    it(`${where} has nothing in a name that the terminal would obey; another file has it exactly`, async () => {
      expect((await runInside(["import", lines, ...flags], environment)).status).toBe(0);
      const words = ["export", "--format", "csv", "--query", "esc", ...flags];
      let shown = "";
      const terminal = new Bun.Terminal({ cols: 80, rows: 24, data: (_, bytes) => void (shown += Buffer.from(bytes).toString()) });
      const command = [process.execPath, `${PROJECT}/src/main.ts`, ...words];
      expect(await Bun.spawn(command, { terminal, env: { ...cleanEnvironment(), ...environment } }).exited).toBe(0);
      await until("The plant is shown", () => shown.includes("\u{1f33f}"));
      expect(shown).toContain(String.raw`77,Esc \u001b[31m\u009b31m\u202e${"\u{1f33f}"},`);
      expect((await runInside(words, environment)).stdout).toBe(`id,name,tag\n77,${name},\n`);
    });
  }
});

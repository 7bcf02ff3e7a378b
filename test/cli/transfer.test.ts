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

const MADE = `Created a new store in ${join(folder, "data")}.\n`;

for (const { where, flags, environment, made } of [
  { where: "on a data folder", flags: ["--data", join(folder, "data")], environment: {}, made: MADE },
  { where: "through a running service", flags: [], environment: throughService, made: "" },
]) {
  describe(`plant-store import and export ${where}`, () => {
    it("imports a file, reports the result, and exports it again", async () => {
      const imported = await runInside(["import", FILE, ...flags], environment);
      expect(imported).toEqual({
        status: 0,
        stderr: `${made}${FILE}: not imported: the column height\n`,
        stdout: `${FILE}: 2 read, 2 created, 0 unchanged, 0 replaced, 0 refused\n`,
      });
      const target = join(folder, `${where}.csv`);
      expect(await runInside(["export", target, ...flags], environment)).toEqual({
        status: 0,
        stdout: `${target}: 1 kB\n`,
        stderr: "",
      });
      expect(readFileSync(target, "utf8")).toBe(EXPORTED);
      expect(partsIn(folder)).toEqual([]);
    });

    for (const { options, row } of [
      { options: ["--tag", "tree"], row: "9223372036854775807,Ginkgo biloba,tree" },
      { options: ["--untagged"], row: "-5,Monstera deliciosa," },
      { options: ["--query", "DELI monst"], row: "-5,Monstera deliciosa," },
    ]) {
      it(`exports only the plants that match ${options.join(" ")}`, async () => {
        const { status, stdout } = await runInside(["export", "--format", "csv", ...options, ...flags], environment);
        expect([status, stdout]).toEqual([0, `id,name,tag\n${row}\n`]);
      });
    }

    for (const { header, says } of [
      {
        header: "plant",
        says: "column `id`: name it, choose another with --id-column, or generate ids with --ids content.",
      },
      {
        header: "id,height",
        says: "column `name`: name it, or choose another with --name-column. If that line is a plant, use --no-header.",
      },
      {
        header: "one,height",
        says: "columns `id` and `name`: name them, or choose others with --id-column and --name-column. If there are no ids, generate them with --ids content. If that line is a plant, use --no-header.",
      },
    ]) {
      it(`says which column is missing, and which flag helps: ${header}`, async () => {
        const file = join(folder, "missing.csv");
        writeFileSync(file, `${header}\n1,2\n`);
        const { status, stderr } = await runInside(["import", file, ...flags], environment);
        expect([status, stderr]).toEqual([1, `plant-store: The first line does not name the ${says}\n`]);
      });
    }

    for (const { options, says } of [
      {
        options: [],
        says: 'No column is taken for the id: choose one, as with --id-column "column 1", or generate ids with --ids content.',
      },
      {
        options: ["--id-column", "column 1", "--name-column", ""],
        says: 'No column is taken for the name: choose one, as with --name-column "column 2".',
      },
    ]) {
      it(`says which column is missing where no line names them: ${options.join(" ")}`, async () => {
        const file = join(folder, "unnamed.csv");
        writeFileSync(file, "Acer,tree\n");
        const { status, stderr } = await runInside(["import", file, "--no-header", ...options, ...flags], environment);
        expect([status, stderr]).toEqual([1, `plant-store: ${says}\n`]);
      });
    }

    it("says what it took the columns of a list of names for", async () => {
      const file = join(folder, "names.txt");
      writeFileSync(file, "Acer\nTilia\n");
      const { stderr } = await runInside(["import", file, "--no-header", "--ids", "content", "--dry-run", ...flags], environment);
      expect(stderr).toBe(`${file}: column 1 is taken for the name\n${file}: column 2 is taken for the tag\n`);
    });

    it("says which flags help if all ids are codes, and not if one row has an id", async () => {
      const file = join(folder, "codes.csv");
      const codes = "id,name\nlyjmlx5xd4ajagp,Acer\nA-17,Tilia\n";
      writeFileSync(file, codes);
      const { stderr } = await runInside(["import", file, "--dry-run", ...flags], environment);
      expect(stderr).toEndWith(`${file}: no id is a whole number: if they are codes, --id-column "" --ids content makes ids\n`);
      const { status, stdout } = await runInside(
        ["import", file, "--dry-run", "--id-column", "", "--ids", "content", ...flags],
        environment,
      );
      expect([status, stdout]).toEqual([0, `${file}: dry run: 2 read, 2 created, 0 unchanged, 0 replaced, 0 refused\n`]);
      writeFileSync(file, `${codes}1,Ilex\n`);
      expect((await runInside(["import", file, "--dry-run", ...flags], environment)).stderr).not.toContain("codes, --id-column");
    });

    it("says how to take plants out of an object over several lines", async () => {
      const file = join(folder, "db.json");
      writeFileSync(file, JSON.stringify({ plants: [{ id: 1, name: "Acer" }] }, undefined, 2));
      const { status, stderr } = await runInside(["import", file, "--dry-run", ...flags], environment);
      expect([status, stderr]).toEqual([1, expect.stringContaining("`jq .plants` takes a list of that name out of it")]);
      writeFileSync(file, '{"id":1,"name":"Acer"}\n{\n');
      expect((await runInside(["import", file, "--dry-run", ...flags], environment)).stderr).not.toContain("jq");
    });

    it("changes nothing if a file is imported again", async () => {
      const { status, stdout } = await runInside(["import", FILE, ...flags], environment);
      expect([status, stdout]).toEqual([0, `${FILE}: 2 read, 0 created, 2 unchanged, 0 replaced, 0 refused\n`]);
    });

    it("ends with 1 if lines are refused, names each, and imports the others", async () => {
      const { status, stdout, stderr } = await runInside(["import", WITH_BAD, ...flags], environment);
      expect([status, stdout]).toEqual([1, `${WITH_BAD}: 4 read, 2 created, 0 unchanged, 0 replaced, 2 refused\n`]);
      expect(stderr).toMatch(
        /^\S+bad\.ndjson:2: 40005 The field `name` is missing: add it\.\n\S+bad\.ndjson:3: 40001 The body is not valid JSON.*\n$/,
      );
    });

    it("writes the refused lines to a file if asked to", async () => {
      const refused = join(folder, "refused.txt");
      const { status, stderr } = await runInside(["import", WITH_BAD, "--refused", refused, "--force", ...flags], environment);
      expect([status, stderr]).toEqual([1, ""]);
      expect(
        readFileSync(refused, "utf8")
          .split("\n")
          .map((line) => line.replace(/^\S+bad/, "bad").slice(0, 19)),
      ).toEqual(["bad.ndjson:2: 40005", "bad.ndjson:3: 40001", ""]);
    });

    it("stores nothing on a dry run, and replaces on demand", async () => {
      const other = join(folder, "other.ndjson");
      writeFileSync(other, '{"id":1,"name":"Ficus carica"}\n');
      const dry = await runInside(["import", other, "--on-conflict", "replace", "--dry-run", ...flags], environment);
      expect(dry.stdout).toBe(`${other}: dry run: 1 read, 0 created, 0 unchanged, 1 replaced, 0 refused\n`);
      const wet = await runInside(["import", other, "--on-conflict=replace", ...flags], environment);
      expect([wet.status, wet.stdout]).toEqual([0, `${other}: 1 read, 0 created, 0 unchanged, 1 replaced, 0 refused\n`]);
      const { stdout } = await runInside(["export", "--format", "csv", "--profile", "dwc", ...flags], environment);
      expect(stdout).toBe(
        "catalogNumber,scientificName,tag\n-5,Monstera deliciosa,\n1,Ficus carica,\n3,Hedera,\n9223372036854775807,Ginkgo biloba,tree\n",
      );
    });
  });
}

describe("plant-store import and export", () => {
  for (const { what, words, environment = {}, message } of [
    {
      what: "the imported file as the one for refused lines",
      words: ["import", FILE, "--refused", FILE, "--data", folder],
      message: `${FILE} is one of the files to import: write the refused lines to another file.`,
    },
    {
      what: "a wrong token",
      words: ["export"],
      environment: { ...throughService, PLANT_STORE_TOKEN: "plant_x" },
      message: "The bearer token is invalid: send one that exists and has not expired or been revoked.",
    },
    {
      what: "an address that is empty",
      words: ["export", "--url", ""],
      environment: { PLANT_STORE_TOKEN: "plant_x" },
      message: "An empty text is not the address of a service: use one such as http://127.0.0.1:8080.",
    },
  ]) {
    it(`refuse ${what} with a sentence and status 1`, async () => {
      const { status, stdout, stderr } = await runInside(words, environment);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toStartWith(`plant-store: ${message}`);
    });
  }

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
  for (const { what, words } of [
    { what: "an export", words: (file: string) => ["export", file] },
    { what: "the list of refused lines", words: (file: string) => ["import", WITH_BAD, "--refused", file] },
  ]) {
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
    for (const other of others) writeFileSync(other, "somebody's");
    expect((await runInside(["export", file], throughService)).status).toBe(0);
    expect([readFileSync(victim, "utf8"), readlinkSync(`${file}.part`), lstatSync(file).isFile()]).toEqual(["precious", victim, true]);
    expect(readFileSync(file, "utf8")).toContain('"Ginkgo biloba"');
    expect([existsSync(left), ...others.map((other) => readFileSync(other, "utf8"))]).toEqual([false, "somebody's", "somebody's"]);
  });

  it("does not replace a file that appeared meanwhile, without --force", () => {
    const own = temporaryFolder();
    for (const { isForced, expected } of [
      { isForced: false, expected: "somebody's" },
      { isForced: true, expected: "" },
    ]) {
      const path = join(own, `${isForced}.csv`);
      const part = openPartFile({ kind: "file", path, isForced });
      writeFileSync(path, "somebody's");
      if (isForced) part.keep();
      else expect(() => part.keep()).toThrow(`${path} already exists: name another file, or overwrite it with --force.`);
      part.close();
      closeSync(part.fd);
      expect(readFileSync(path, "utf8")).toBe(expected);
    }
    expect(partsIn(own)).toEqual([]);
  });

  for (const { what, words } of [
    { what: "an export", words: (file: string) => ["export", file, "--force"] },
    { what: "the list of refused lines", words: (file: string) => ["import", WITH_BAD, "--refused", file, "--force"] },
  ]) {
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

    it(`has a name, in an existing folder: ${what}`, async () => {
      const folderless = join(folder, "no", "such");
      for (const { path, message } of [
        { path: join(folderless, "file"), message: `There is no folder ${folderless}: create it, or name another file.` },
        { path: "", message: "The file name is empty: name a file." },
      ]) {
        const { status, stderr } = await runInside(words(path), throughService);
        expect([status, stderr]).toEqual([1, `plant-store: ${message}\n`]);
      }
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

const FORMULAS = [
  { name: "=cmd|' /C calc'!A0", guarded: "'=cmd|' /C calc'!A0" },
  { name: "+1", guarded: "'+1" },
  { name: "-1", guarded: "'-1" },
  { name: "@SUM(1)", guarded: "'@SUM(1)" },
  { name: "\t=1", guarded: "\"'\t'=1\"" },
  { name: "\r=1", guarded: "\"'\r'=1\"" },
  { name: "\n=1", guarded: "\"'\n'=1\"" },
  ...["＝1", "＋1", "－1", "＠SUM(1)"].map((name) => ({ name, guarded: `'${name}` })),
  { name: "=1,2", guarded: '"\'=1,2"' },
  { name: "a;=1;b", guarded: '"a;\'=1;b"' },
  { name: 'a;"=1;b', guarded: '"a;""\'=1;b"' },
  { name: "a\n＝1;\t-1", guarded: "\"a\n'＝1;\t'-1\"" },
  { name: "a; -1,=1", guarded: '"a; -1,=1"' },
  { name: "a=1", guarded: "a=1" },
  { name: "'=1", guarded: "'=1" },
  { name: "", guarded: "" },
];

describe("an export with the guard against formulas", () => {
  it("has the mark of UTF-8, puts a ' where a formula begins in a name or tag, also where cells end at semicolons, and changes nothing else; without the guard it changes nothing", async () => {
    const own = await startTestService();
    const lines = FORMULAS.map(({ name }, at) => `{"id":${at - 5},"name":${JSON.stringify(name)},"tag":${JSON.stringify(name)}}\n`);
    await own.request("/plants/import", { method: "POST", body: lines.join("") });
    const guarded = `\ufeffid,name,tag\n${FORMULAS.map(({ guarded: cell }, at) => `${at - 5},${cell},${cell === "" ? '""' : cell}\n`).join("")}`;
    const environment = { PLANT_STORE_URL: own.url, PLANT_STORE_TOKEN: own.token };
    for (const words of [["--guard-formulas"], ["--guard-formulas", "--format", "csv"]]) {
      expect((await runInside(["export", ...words], environment)).stdout).toBe(guarded);
    }
    const bytes = await (await own.request("/plants/export?guardFormulas=true")).arrayBuffer();
    expect(Buffer.from(bytes).toString()).toBe(guarded);
    const plain = await (await own.request("/plants/export?format=csv&guardFormulas=false")).text();
    expect(plain).toBe(await (await own.request("/plants/export?format=csv")).text());
    expect(plain).not.toContain("'=cmd|' /C calc'!A0,'");
    expect(guarded.split(/[;\n]/).filter((cell) => /^"*[=+@＝＋－＠]/.test(cell))).toEqual([]);

    const { status, stderr } = await runInside(["export", "--guard-formulas", "--format", "ndjson"], environment);
    expect([status, stderr]).toEqual([
      1,
      "plant-store: The guard against formulas works with CSV only: ask for the format csv, or for none.\n",
    ]);
    expect((await own.request("/plants/export?guardFormulas=true&format=ndjson")).status).toBe(400);
    await own.stop();
  });
});

describe("an export to a terminal", () => {
  const name = "Esc \u001b[31m\u009b31m\u202e\u{1f33f}";
  const lines = join(folder, "terminal.ndjson");
  writeFileSync(lines, `${JSON.stringify({ id: 77, name })}\n`);

  for (const { where, flags, environment } of [
    { where: "of a data folder", flags: ["--data", join(folder, "terminal")], environment: {} },
    { where: "of a running service", flags: [], environment: throughService },
  ]) {
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

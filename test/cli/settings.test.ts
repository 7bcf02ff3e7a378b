import { describe, expect, it } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, parseConfig } from "../../src/app/config.ts";
import { SETTINGS, withoutSecrets } from "../../src/app/settings.ts";
import { runInside } from "../support/command.ts";
import { cleanEnvironment, PROJECT, runCommand, startProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const reference = readFileSync(join(PROJECT, "docs/reference/settings.md"), "utf8");

function problemsOf(environment: Record<string, string>, flags = {}, mistakes: string[] = []): string {
  try {
    parseConfig(environment, flags, { command: "serve", mistakes });
  } catch (reason) {
    if (reason instanceof ConfigError) return reason.message;
    throw reason;
  }
  return "";
}

describe("the settings", () => {
  const [QUOTES, SPACES] = ["has quotes around its value", "has spaces or a line end around its value"];
  it.each([
    ["PLANT_STORE_DATA", '"data"', QUOTES],
    ["PLANT_STORE_DATA", "'/var/my plants'\r", QUOTES],
    ["PLANT_STORE_DATA", '"/var/my', QUOTES],
    ["PLANT_STORE_DATA", "data\r", SPACES],
    ["PLANT_STORE_DATA", " data", SPACES],
    ["PLANT_STORE_PORT", '"8080"', QUOTES],
    ["PLANT_STORE_LOG", "debug\n", SPACES],
  ])("name what a file of variables leaves around a value: %s=%j", (variable, value, problem) => {
    const lines = problemsOf({ [variable]: value }).split("\n");
    expect([lines.length, lines[1]]).toEqual([3, expect.stringContaining(`${variable} ${problem}`)]);
  });

  it("are not what Kubernetes makes for services whose names begin with plant-store", () => {
    const links = {
      PLANT_STORE_SERVICE_HOST: "10.0.0.1",
      PLANT_STORE_SERVICE_PORT: "8080",
      PLANT_STORE_SERVICE_PORT_HTTP: "8080",
      PLANT_STORE_PORT: "tcp://10.0.0.1:8080",
      PLANT_STORE_PORT_8080_TCP: "tcp://10.0.0.1:8080",
      PLANT_STORE_PORT_8080_TCP_PROTO: "tcp",
      PLANT_STORE_PORT_8080_TCP_PORT: "8080",
      PLANT_STORE_PORT_8080_TCP_ADDR: "10.0.0.1",
      PLANT_STORE_DATABASE_PORT: "tcp://[fd00::1]:5432",
      PLANT_STORE_DATABASE_SERVICE_HOST: "fd00::1",
    };
    expect(parseConfig(links, {})).toEqual(parseConfig({}, {}));
    expect(problemsOf({ PLANT_STORE_DATABASE: "tcp://10.0.0.1:5432" })).toContain("PLANT_STORE_DATABASE must be");
    expect(problemsOf({ PLANT_STORE_PROT: "8080" })).toContain("PLANT_STORE_PROT is not a known setting.");
  });

  it("are not a port that Kubernetes made, which the log names with enableServiceLinks", async () => {
    const service = await startProcess({ data: temporaryFolder(), environment: { PLANT_STORE_PORT: "tcp://10.0.0.1:8080" } });
    expect(await service.end("SIGTERM")).toBe(0);
    expect(service.lines.filter((line) => line.includes("enableServiceLinks"))).toHaveLength(1);
  });

  it("turn traces off, and nothing else, if those of OpenTelemetry are not understood", () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    const { traces, tracesOff } = parseConfig(environment, {});
    expect([traces, tracesOff]).toEqual([undefined, "OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/json, http/protobuf."]);
  });

  it("have no data folder whose name is not UTF-8, instead of a new one of another name", () => {
    const folder = temporaryFolder();
    const script = `exec "$0" "$1" import --data "$(printf 'garden-\\351')" "$2"`;
    const file = join(folder, "plants.ndjson");
    writeFileSync(file, '{"id":1,"name":"Ficus"}\n');
    const words = ["-c", script, process.execPath, join(PROJECT, "src/main.ts"), file];
    const { stderr, status } = spawnSync("sh", words, { cwd: folder, env: cleanEnvironment(), encoding: "utf8" });
    expect(stderr).toContain("  - --data must be UTF-8: give the folder a name that is, or name it by a link.\n");
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual(["plants.ndjson"]);
  });

  it("are each explained once in docs/reference/settings.md", () => {
    const explained = Array.from(reference.matchAll(/^- \*\*`(--[a-z-]+)`\*\*: /gm), ([, flag]) => flag);
    expect(explained).toEqual(Object.values(SETTINGS).map(({ flag }) => flag));
  });

  it("take numbers of the range that docs/reference/settings.md states, and no greater ones", () => {
    const numbers = Object.entries(SETTINGS).filter(([, { fallback }]) => /^\d+$/.test(fallback));
    for (const [name, { flag }] of numbers) {
      const [, item = ""] = new RegExp(`^- \\*\\*\`${flag}\`\\*\\*: (.*?)(?=\\n\\n|\\n- )`, "ms").exec(reference) ?? [];
      const [, min, max] = (/from\s+([\d,]+)\s+to\s+([\d,]+)/.exec(item) ?? []).map((text) => Number(text.replaceAll(",", "")));
      expect([flag, problemsOf({}, { [name]: `${min}` }), problemsOf({}, { [name]: `${max}` })]).toEqual([flag, "", ""]);
      const range = `- ${flag} must be a whole number from ${min} to ${max}.`;
      expect(problemsOf({}, { [name]: `${max! + 1}` })).toContain(range);
    }
    expect(numbers.length).toBeGreaterThan(9);
  });

  it("prefer a flag to a variable", () => {
    const environment = { PLANT_STORE_PORT: "1", PLANT_STORE_HOST: "0.0.0.0" };
    expect(parseConfig(environment, { port: "2" })).toMatchObject({ port: 2, host: "0.0.0.0" });
  });

  it("name every wrong and unknown one in one message", () => {
    const environment = { PLANT_STORE_PRT: "1", PLANT_STORE_PORT: "65536", PLANT_STORE_LOG: "loud", PLANT_STORE_HOST: "", HOME: "/x" };
    const message = problemsOf(environment, { queueMax: "many" }, ["--verbose is not a known setting."]);
    for (const name of ["PLANT_STORE_PRT", "PLANT_STORE_PORT", "PLANT_STORE_LOG", "PLANT_STORE_HOST", "--queue-max", "--verbose"]) {
      expect(message).toContain(`- ${name} `);
    }
    expect(message.match(/^ {2}- /gm)).toHaveLength(6);
  });

  it.each(["*", " ", "[::1]", "http://localhost", "a:1"])("take no host like %s, which is neither an address nor a name", (host) => {
    expect(problemsOf({ PLANT_STORE_HOST: host }, {}, [])).toContain("- PLANT_STORE_HOST must be an address or a name");
  });

  it.each(["0.0.0.0", "::", "::1", "fe80::1%eth0", "localhost", "plant_store-1.garden."])("take a host like %s", (host) => {
    expect(parseConfig({ PLANT_STORE_HOST: host }, {})).toMatchObject({ host });
  });

  it("are told from words that belong to nothing, and the help of the command is named", async () => {
    expect(await runCommand(["token", "create", "sync", "-x", "secret"])).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "plant-store: The settings are wrong:\n  - -x is not a known setting.\n  - sync is not expected.\nSee `plant-store token create --help`.\n",
    });
  });

  for (const words of [
    ["backup", "--kep=7"],
    ["export", "--kep=7"],
    ["export", "--kep=7", "--url", "http://127.0.0.1:1"],
    ["restore", "--kep=7"],
    ["token", "revoke", "--kep=7"],
  ]) {
    it(`are no file or id: ${words.join(" ")} is refused`, async () => {
      const cwd = temporaryFolder();
      const { status, stderr } = await runCommand(words, { cwd });
      expect([status, stderr.includes("  - --kep is not a known setting.\n")]).toEqual([1, true]);
      expect(readdirSync(cwd)).toEqual([]);
    });
  }

  it("are not repeated where they may be a secret: behind a sign of equality, a flag that is not known, or in an address", async () => {
    for (const words of [
      ["check", "PLANT_STORE_TOKEN=hunter2"],
      ["export", "plants.csv", "--tokn", "hunter2"],
      ["check", "--tokn=hunter2"],
      ["--database=postgres://anna:'hunter2'@db/plants"],
      ["token", "--database=postgres://anna:hunter2@db/plants"],
      ["PLANT_STORE_DATABASE=postgres://anna:hunter2@db/plants", "serve"],
      ["postgres://anna:hunter2@db/plants"],
      ["serve", "postgres://anna:hunter2@db/plants"],
    ]) {
      expect(await runCommand(words)).toMatchObject({ status: 1, stderr: expect.not.stringContaining("hunter2") });
    }
  });

  it.each(["", "-1", "1.5", "8080 ", "0x50", "1e3", "65536"])("refuse the port %j", (port) => {
    expect(problemsOf({}, { port })).toContain("--port must be a whole number from 0 to 65535.");
  });

  it("take exact origins, also one with a port or an address", () => {
    const origins = ["https://garden.example", "http://localhost:5173", "http://[::1]:3000", "https://xn--bcher-kva.example"];
    expect(parseConfig({ PLANT_STORE_ORIGINS: origins.join(" , ") }, {}).origins).toEqual(origins);
  });

  it.each([
    ["", "nothing"],
    ["*", "every origin"],
    ["null", "pages without an origin, such as any file or sandbox"],
    ["https://*.garden.example", "a pattern"],
    ["garden.example", "a host"],
    ["https://garden.example/", "an address"],
    ["https://garden.example/plants", "a path"],
    ["https://GARDEN.example", "what no browser sends: capitals"],
    ["https://garden.example:443", "what no browser sends: the usual port"],
    ["https://bücher.example", "what no browser sends: letters that are not ASCII"],
    ["https://anna:secret@garden.example", "a password"],
    ["file://", "a file"],
    ["https://garden.example,", "an empty one among others"],
    ["none,https://garden.example", "none and one"],
    ["https://garden.example https://b.example", "a list without commas"],
  ])("refuse as origins %j: %s", (text) => {
    expect(problemsOf({}, { origins: text })).toMatch(/- --origins must be none, or exact origins .*: .* neither \* nor null\.\n/);
  });
});

describe("plant-store config", () => {
  it("prints every setting in force and where it comes from, and the address of a database without its password", async () => {
    const environment = {
      PLANT_STORE_LOG: "warn",
      PLANT_STORE_DATABASE: "postgres://anna:s3cret@one:5432,two:5433/plants?password=s3cret",
    };
    const { stdout } = await runInside(["config", "--port", "9000"], environment);
    for (const line of [
      "PLANT_STORE_PORT=9000  (flag)",
      "PLANT_STORE_LOG=warn  (environment)",
      "PLANT_STORE_HOST=127.0.0.1  (default)",
      "PLANT_STORE_DATABASE=postgres://anna:***@one:5432,two:5433/plants?password=***  (environment)",
    ])
      expect(stdout).toContain(`${line}\n`);
    expect(stdout).not.toContain("s3cret");
  });

  it.each([
    ["postgres://anna:s3cret@db/plants", "postgres://anna:***@db/plants"],
    ["postgresql://:s3cret@db/plants", "postgresql://:***@db/plants"],
    ["postgres://db/plants?user=anna&PASSWORD=s3cret", "postgres://db/plants?user=anna&PASSWORD=***"],
    ["postgres://anna:p@s3cret@db/plants", "postgres://anna:***@db/plants"],
    ["postgres://anna:1/s3cret@db/plants", "postgres://anna:***@db/plants"],
    ["postgres://anna:1?s3cret@db/plants", "postgres://anna:***@db/plants"],
    ["postgres://an/na:s3cret@db/plants", "postgres://an/na:***@db/plants"],
    ["postgres://anna@one:5432,two:5433/plants", "postgres://anna@one:5432,two:5433/plants"],
  ])("would print %s as %s", (address, shown) => expect(withoutSecrets(address)).toBe(shown));

  it("refuses the address of another kind of database, and does not repeat it", async () => {
    const { status, stderr } = await runInside(["config", "--database", "mysql://anna:s3cret@db/plants"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("  - --database must be sqlite, or an address such as postgres://user:")]);
    expect(stderr).not.toContain("s3cret");
  });
});

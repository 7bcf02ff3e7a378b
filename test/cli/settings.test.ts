import { describe, expect, it } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, parseConfig } from "../../src/app/config.ts";
import { SETTINGS } from "../../src/app/settings.ts";
import { cleanEnvironment, PROJECT, runCommand, startProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
  it("have the defaults of docs/reference/settings.md", () => {
    expect(parseConfig({}, { data: "/var/plants" })).toEqual({
      host: "127.0.0.1",
      port: 8080,
      data: "/var/plants",
      database: { kind: "sqlite", path: "/var/plants/plants.db" },
      metrics: undefined,
      traces: undefined,
      log: "info",
      logChanges: "sum",
      bodyBytesMax: 65_536,
      connectionsMax: 8192,
      queueMax: 1024,
      queueWaitMs: 1000,
      tokenRequestsPerMinute: 0,
      addressRequestsPerMinute: 0,
      refusedRequestsPerMinute: 600,
      trustedProxies: undefined,
      trustedHeader: "x-forwarded-for",
      origins: [],
      drainDelayMs: 0,
      drainMs: 8000,
    });
  });

  for (const { environment, problem } of [
    { environment: { PLANT_STORE_DATA: '"data"' }, problem: "PLANT_STORE_DATA has quotes around its value" },
    { environment: { PLANT_STORE_DATA: "'/var/my plants'\r" }, problem: "PLANT_STORE_DATA has quotes around its value" },
    { environment: { PLANT_STORE_DATA: '"/var/my' }, problem: "PLANT_STORE_DATA has quotes around its value" },
    { environment: { PLANT_STORE_DATA: "data\r" }, problem: "PLANT_STORE_DATA has spaces or a line end around its value" },
    { environment: { PLANT_STORE_DATA: " data" }, problem: "PLANT_STORE_DATA has spaces or a line end around its value" },
    { environment: { PLANT_STORE_PORT: '"8080"' }, problem: "PLANT_STORE_PORT has quotes around its value" },
    { environment: { PLANT_STORE_LOG: "debug\n" }, problem: "PLANT_STORE_LOG has spaces or a line end around its value" },
  ])
    it(`name what a file of variables leaves around a value: ${JSON.stringify(environment)}`, () => {
      const lines = problemsOf(environment).split("\n");
      expect(lines.length).toBe(3);
      expect(lines[1]).toContain(problem);
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

  it("of OpenTelemetry that are not understood turn traces off, and nothing else", () => {
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

  it("are all in docs/reference/settings.md, each with its variable, flag and default", () => {
    const reference = readFileSync(new URL("../../docs/reference/settings.md", import.meta.url), "utf8");
    const rows = reference.match(/^\| `PLANT_STORE_.*$/gm)?.map((row) =>
      row
        .split("|")
        .slice(1, 4)
        .map((cell) => cell.trim()),
    );
    expect(rows).toEqual(
      Object.values(SETTINGS).map(({ variable, flag, fallback }) => [`\`${variable}\``, `\`${flag}\``, `\`${fallback}\``]),
    );
  });

  it("are each explained there once", () => {
    const reference = readFileSync(new URL("../../docs/reference/settings.md", import.meta.url), "utf8");
    const explained = Array.from(reference.matchAll(/^- \*\*`(--[a-z-]+)`\*\*: /gm), ([, flag]) => flag);
    expect(explained).toEqual(Object.values(SETTINGS).map(({ flag }) => flag));
  });

  it("that are numbers take those of the range that is said there, and no other", () => {
    const reference = readFileSync(new URL("../../docs/reference/settings.md", import.meta.url), "utf8");
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
      const { status, stderr } = await runCommand(words);
      expect([status, stderr]).toEqual([1, expect.not.stringContaining("hunter2")]);
    }
  });

  it("are never repeated in a message, because they may contain a password", () => {
    expect(problemsOf({ PLANT_STORE_DATABASE: "postgres://anna:secret@db/plants" })).not.toContain("secret");
  });

  for (const port of ["", "-1", "1.5", "8080 ", "0x50", "1e3", "65536"]) {
    it(`refuse the port ${JSON.stringify(port)}`, () => {
      expect(problemsOf({}, { port })).toContain("--port must be a whole number from 0 to 65535.");
    });
  }

  it("take exact origins, also one with a port or an address", () => {
    const origins = ["https://garden.example", "http://localhost:5173", "http://[::1]:3000", "https://xn--bcher-kva.example"];
    expect(parseConfig({ PLANT_STORE_ORIGINS: origins.join(" , ") }, {}).origins).toEqual(origins);
  });

  const notOrigins = [
    { text: "", why: "nothing" },
    { text: "*", why: "every origin" },
    { text: "null", why: "pages without an origin, such as any file or sandbox" },
    { text: "https://*.garden.example", why: "a pattern" },
    { text: "garden.example", why: "a host" },
    { text: "https://garden.example/", why: "an address" },
    { text: "https://garden.example/plants", why: "a path" },
    { text: "https://GARDEN.example", why: "what no browser sends: capitals" },
    { text: "https://garden.example:443", why: "what no browser sends: the usual port" },
    { text: "https://bücher.example", why: "what no browser sends: letters that are not ASCII" },
    { text: "https://anna:secret@garden.example", why: "a password" },
    { text: "file://", why: "a file" },
    { text: "https://garden.example,", why: "an empty one among others" },
    { text: "none,https://garden.example", why: "none and one" },
    { text: "https://garden.example https://b.example", why: "a list without commas" },
  ];
  for (const { text, why } of notOrigins) {
    it(`refuse as origins ${JSON.stringify(text)}: ${why}`, () => {
      expect(problemsOf({}, { origins: text })).toMatch(/- --origins must be none, or exact origins .*: .* neither \* nor null\.\n/);
    });
  }
});

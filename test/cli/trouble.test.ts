import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { makeCertificate } from "../support/certificate.ts";
import { runInside } from "../support/command.ts";
import { escapeControls } from "../../src/runtime/terminal-text.ts";
import { needsOtherUser, runCommand } from "../support/process.ts";
import { findFreePort } from "../support/port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Codes and words of the operating system that tell people nothing. */
const RAW = /\bE[A-Z]{3,}\b|errno|syscall|\n {4}at |Error:|undefined|\[object/;

/** Some user who is not the owner of any file here. */
const STRANGER = 12_345;
const isRoot = process.getuid?.() === 0;

/** What the commands meet: a store, a file, a folder, a service that is not ours, and so on. */
const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
writeFileSync(at("file"), "x\n");
writeFileSync(at("plants.ndjson"), '{"id":1,"name":"Monstera"}\nno plant\n');
mkdirSync(at("folder"));
mkdirSync(at("closed"), { mode: 0o000 });
symlinkSync(at("loop"), at("loop"));
const store = at("store");
await runCommand(["import", at("plants.ndjson"), "--data", store]);
const strange = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    data: (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"),
  },
});
strange.unref();
const certificate = makeCertificate();
const tls = { cert: certificate.text, key: readFileSync(join(certificate.folder, "privkey.pem"), "utf8") };
const [secure, misnamed] = ["127.0.0.1", "127.0.0.2"].map((hostname) => {
  const server = Bun.serve({ hostname, port: 0, tls, fetch: () => new Response("hi") });
  server.unref();
  return server.port;
});
const closedPort = await findFreePort();
const away = `postgres://anna:secret@127.0.0.1:${closedPort}/plants`;
const token = { PLANT_STORE_TOKEN: `plant_${"x".repeat(38)}` };
const nothing = `http://127.0.0.1:${closedPort}`;

type Trouble = readonly [why: string, words: readonly string[], says: string, environment?: Readonly<Record<string, string>>];

const data = ["--data", store];
const newData = ["serve", "--port", "0", "--data", at("new")];
const REPEAT = "in NODE_EXTRA_CA_CERTS. It is safe to repeat";
const trusting = { ...token, NODE_EXTRA_CA_CERTS: certificate.path };

/** What a service is told to be, with the words of two commands. */
const toService = (why: string, url: string, says: string, environment: Trouble[3] = token): Trouble[] =>
  [["export"], ["import", at("plants.ndjson")]].map((words) => [why, [...words, "--url", url], says, environment]);

const troubles: readonly Trouble[] = [
  ["a command that does not exist", ["plant"], "unknown command 'plant'. See `plant-store --help`."],
  ["a command of tokens that does not exist", ["token", "make"], "unknown command 'make'. See `plant-store token --help`."],
  ["a command that would colour the terminal", ["\u001b[31m"], String.raw`unknown command '\u001b[31m'`],
  ["a command of tokens that would", ["token", "\u001b[31m"], String.raw`unknown command '\u001b[31m'`],
  ["a command that is nearly one", ["imprt"], "(Did you mean import?). See `plant-store --help`."],
  ["no word where one is needed", ["token", "revoke"], "argument 'id'. See `plant-store token revoke --help`."],
  ["a word too many", ["version", "2"], "got 1: 2. See `plant-store version --help`."],
  ["a format that is none", ["export", "--format", "x"], "are ndjson, csv. See `plant-store export --help`."],
  ["a flag that does not exist", ["import", "--fast", at("plants.ndjson"), ...data], "See `plant-store import --help`."],
  ["a name without its flag", ["token", "create", "sync", ...data], "See `plant-store token create --help`."],

  ["a missing file", ["import", at("none"), ...data], `There is no file ${at("none")}: check its name.`],
  ["a missing file", ["restore", at("none"), "--data", at("new")], `There is no file ${at("none")}: check its name.`],
  ["a folder as a file", ["import", at("folder"), ...data], `${at("folder")} is a folder: name the files in it.`],
  ["a folder as a file", ["restore", at("folder"), "--data", at("new")], "is not a file"],
  ["a folder as a file", ["export", at("folder"), ...data], `${at("folder")} is a folder: name a file in it.`],
  ["a file as a folder", ["import", at("file/x"), ...data], "is a file, not a folder: check its name"],
  ["a file as a folder", ["export", at("file/x"), ...data], "There is no folder"],
  ["a missing folder", ["export", at("none/x"), ...data], "There is no folder"],
  ["a missing folder", ["backup", at("none/x"), ...data], "There is no folder"],
  ["a missing folder", ["import", at("plants.ndjson"), "--refused", at("none/x"), ...data], "There is no folder"],
  ["no name of a file", ["export", "", ...data], "The file name is empty: name a file."],
  ["no name of a file", ["import", at("plants.ndjson"), "--refused", "", ...data], "The file name is empty: name a file."],
  ["a link to itself", ["import", at("loop"), ...data], "leads back to itself: name another one"],
  ["a name that is too long", ["export", at("x".repeat(300)), ...data], "the name is too long"],
  ["a full disk", ["export", "/dev/full", ...data], "The disk is full: make room"],
  ["a full disk", ["import", at("plants.ndjson"), "--refused", "/dev/full", ...data], "The disk is full: make room"],

  ...[
    ["serve", "--port", "0"],
    ["import", at("plants.ndjson")],
    ["export"],
    ["backup", at("b.gz")],
    ["token", "list"],
    ["token", "create"],
    ["token", "revoke", "x"],
    ["check"],
  ].map((words): Trouble => [
    "a file as its data folder",
    [...words, "--data", at("file")],
    `${at("file")} is not a folder: name one with --data.`,
  ]),
  ["a data folder that cannot be made", ["serve", "--port", "0", "--data", "/proc/plants"], "name another folder with --data"],

  ...[["export"], ["import", at("plants.ndjson")], ["backup", at("b.gz")], ["token", "list"], ["token", "create"]].map((words): Trouble => [
    "a database that is away",
    [...words, "--database", away],
    "cannot be used (nothing listens there). Check its address",
  ]),
  ["a database on a machine that is not known", ["token", "list", "--database", "postgres://a:b@nowhere.invalid/x"], "cannot be used ("],

  ["no token", ["export", "--url", nothing], "There is no token: set the environment variable PLANT_STORE_TOKEN."],
  ...toService("a url where nothing listens", nothing, `${nothing} failed (nothing listens there)`),
  ...toService("a url that is none", "plants", "plants is not the address of a service: use one such as"),
  ...toService("a url that is empty", "", "An empty text is not the address of a service: use one such as"),
  ...toService("a url of another kind", "ftp://127.0.0.1", "is not the address of a service"),
  ...toService("a service that is not one", `http://127.0.0.1:${strange.port}`, "The response is not Plant Store's"),
  ...toService("a certificate that no one trusts", `https://localhost:${secure}`, `name a file with its authority ${REPEAT}`),
  ...toService("a certificate that is trusted", `https://localhost:${secure}`, "The response is not Plant Store's", trusting),
  ...toService("a certificate for another name", `https://127.0.0.2:${misnamed}`, "use a name that is in the certificate", trusting),
  ...toService("a token with a line end", nothing, "is not a token", { PLANT_STORE_TOKEN: "x\ny" }),

  ["a port in use", [...newData, "--port", String(strange.port)], "another program uses it: choose another port with --port"],
  ["an address of another machine", [...newData, "--host", "203.0.113.7"], "does not have that address: name one of its own with --host"],
  ["a host without an address", [...newData, "--host", "nowhere.invalid"], "name one of its own with --host"],
  ["metrics at an address of another machine", [...newData, "--metrics", "203.0.113.7:9464"], "name one of its own with --metrics"],
];

/** Only root can become another user, who needs a store. */
if (isRoot) {
  chmodSync(folder, 0o755);
  writeFileSync(at("secret"), "x", { mode: 0o600 });
  cpSync(store, at("theirs"), { recursive: true });
  for (const name of ["", ...readdirSync(at("theirs"))]) chownSync(at(`theirs/${name}`), STRANGER, STRANGER);
}

const theirs = ["--data", at("theirs")];
const ofStrangers: readonly Trouble[] = [
  ["a folder out of reach", ["backup", at("closed/x"), ...theirs], "this user may not use it"],
  ["a folder of another user", ["backup", at("x.gz"), ...theirs], "cannot be written"],
  ["a folder of another user", ["export", at("x"), ...theirs], "cannot be written"],
  ["a file of another user", ["import", at("secret"), ...theirs], "this user may not use it: run this as its owner"],
  ["a file of another user", ["restore", at("secret"), ...theirs], "this user may not use it: run this as its owner"],
];

describe("a command in trouble", () => {
  for (const [index, [why, words, says, environment]] of [...troubles, ...ofStrangers].entries()) {
    const user = index < troubles.length ? undefined : STRANGER;
    const shown = escapeControls(words.map((word) => word.replace(`${folder}/`, "").slice(0, 40)).join(" "));
    const test = user === undefined ? it : needsOtherUser().it;
    test(`says in words what is wrong: ${why}: ${shown}`, async () => {
      const isOwn = user === undefined && !environment?.["NODE_EXTRA_CA_CERTS"];
      const { status, stderr } = isOwn
        ? await runInside(words, environment)
        : await runCommand(words, { ...(environment && { environment }), ...(user && { user, cwd: "/" }) });
      expect(stderr.trimEnd().split("\n").at(-1)).toContain(says);
      expect(stderr).not.toMatch(RAW);
      expect(stderr).not.toContain("secret@");
      expect(status).toBe(1);
    });
  }
});

describe("the exit status", () => {
  it("is documented: 0 and 1, and no other", () => {
    const reference = readFileSync(new URL("../../docs/reference/commands.md", import.meta.url), "utf8");
    const section = reference.split("## ").find((part) => part.startsWith("Exit status"))!;
    expect(Array.from(section.matchAll(/^- \*\*(\d+)\*\*/gm), ([, status]) => status)).toEqual(["0", "1"]);
  });

  for (const words of [["version"], ["--version"], ["help"], ["--help"], ["help", "token"], ["token", "help"], ["token", "--help"]]) {
    it(`is 0 for ${words.join(" ")}`, async () => {
      const { status, stdout, stderr } = await runCommand(words);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain(words.at(-1)!.endsWith("version") ? manifest.version : "Usage: plant-store");
    });
  }

  it("is 1 without a command, with the help on standard error", async () => {
    const { status, stdout, stderr } = await runCommand([]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain("Usage: plant-store");
  });
});

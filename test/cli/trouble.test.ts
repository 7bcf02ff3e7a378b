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
    data(socket) {
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    },
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

type Trouble = Readonly<{ why: string; words: readonly string[]; says: string; environment?: Record<string, string>; user?: number }>;

const troubles: readonly Trouble[] = [
  { why: "a command that does not exist", words: ["plant"], says: "unknown command 'plant'. See `plant-store --help`." },
  {
    why: "a command of tokens that does not exist",
    words: ["token", "make"],
    says: "unknown command 'make'. See `plant-store token --help`.",
  },
  { why: "a command that would colour the terminal", words: ["\u001b[31m"], says: String.raw`unknown command '\u001b[31m'` },
  { why: "a command of tokens that would", words: ["token", "\u001b[31m"], says: String.raw`unknown command '\u001b[31m'` },
  { why: "a command that is nearly one", words: ["imprt"], says: "(Did you mean import?). See `plant-store --help`." },
  { why: "no word where one is needed", words: ["token", "revoke"], says: "argument 'id'. See `plant-store token revoke --help`." },
  { why: "a word too many", words: ["version", "2"], says: "got 1: 2. See `plant-store version --help`." },
  { why: "a format that is none", words: ["export", "--format", "x"], says: "are ndjson, csv. See `plant-store export --help`." },
  {
    why: "a flag that does not exist",
    words: ["import", "--fast", at("plants.ndjson"), "--data", store],
    says: "See `plant-store import --help`.",
  },
  {
    why: "a name without its flag",
    words: ["token", "create", "sync", "--data", store],
    says: "See `plant-store token create --help`.",
  },

  { why: "a missing file", words: ["import", at("none"), "--data", store], says: `There is no file ${at("none")}: check its name.` },
  { why: "a missing file", words: ["restore", at("none"), "--data", at("new")], says: `There is no file ${at("none")}: check its name.` },
  {
    why: "a folder as a file",
    words: ["import", at("folder"), "--data", store],
    says: `${at("folder")} is a folder: name the files in it.`,
  },
  { why: "a folder as a file", words: ["restore", at("folder"), "--data", at("new")], says: "is not a file" },
  { why: "a folder as a file", words: ["export", at("folder"), "--data", store], says: `${at("folder")} is a folder: name a file in it.` },
  { why: "a file as a folder", words: ["import", at("file/x"), "--data", store], says: "is a file, not a folder: check its name" },
  { why: "a file as a folder", words: ["export", at("file/x"), "--data", store], says: "There is no folder" },
  { why: "a missing folder", words: ["export", at("none/x"), "--data", store], says: "There is no folder" },
  { why: "a missing folder", words: ["backup", at("none/x"), "--data", store], says: "There is no folder" },
  { why: "a link to itself", words: ["import", at("loop"), "--data", store], says: "leads back to itself: name another one" },
  { why: "a name that is too long", words: ["export", at("x".repeat(300)), "--data", store], says: "the name is too long" },
  { why: "a full disk", words: ["export", "/dev/full", "--data", store], says: "The disk is full: make room" },
  {
    why: "a full disk",
    words: ["import", at("plants.ndjson"), "--refused", "/dev/full", "--data", store],
    says: "The disk is full: make room",
  },

  ...[
    ["serve", "--port", "0"],
    ["import", at("plants.ndjson")],
    ["export"],
    ["backup", at("b.gz")],
    ["token", "list"],
    ["token", "create"],
    ["token", "revoke", "x"],
    ["check"],
  ].map((words) => ({
    why: "a file as its data folder",
    words: [...words, "--data", at("file")],
    says: `${at("file")} is not a folder: name one with --data.`,
  })),
  {
    why: "a data folder that cannot be made",
    words: ["serve", "--port", "0", "--data", "/proc/plants"],
    says: "name another folder with --data",
  },

  ...[["export"], ["import", at("plants.ndjson")], ["backup", at("b.gz")], ["token", "list"], ["token", "create"]].map((words) => ({
    why: "a database that is away",
    words: [...words, "--database", away],
    says: "cannot be used (nothing listens there). Check its address",
  })),
  {
    why: "a database on a machine that is not known",
    words: ["token", "list", "--database", "postgres://a:b@nowhere.invalid/x"],
    says: "cannot be used (",
  },

  { why: "no token", words: ["export", "--url", nothing], says: "There is no token: set the environment variable PLANT_STORE_TOKEN." },
  ...[["export"], ["import", at("plants.ndjson")]].flatMap((words) => [
    {
      why: "a url where nothing listens",
      words: [...words, "--url", nothing],
      says: `${nothing} failed (nothing listens there)`,
      environment: token,
    },
    {
      why: "a url that is none",
      words: [...words, "--url", "plants"],
      says: "plants is not the address of a service: use one such as",
      environment: token,
    },
    {
      why: "a url of another kind",
      words: [...words, "--url", "ftp://127.0.0.1"],
      says: "is not the address of a service",
      environment: token,
    },
    {
      why: "a service that is not one",
      words: [...words, "--url", `http://127.0.0.1:${strange.port}`],
      says: "The response is not Plant Store's",
      environment: token,
    },
    {
      why: "a certificate that nobody trusts",
      words: [...words, "--url", `https://localhost:${secure}`],
      says: "nobody trusted here has signed its certificate): name a file with its authority in NODE_EXTRA_CA_CERTS. It is safe to repeat",
      environment: token,
    },
    {
      why: "a certificate that is trusted",
      words: [...words, "--url", `https://localhost:${secure}`],
      says: "The response is not Plant Store's",
      environment: { ...token, NODE_EXTRA_CA_CERTS: certificate.path },
    },
    {
      why: "a certificate for another name",
      words: [...words, "--url", `https://127.0.0.2:${misnamed}`],
      says: "its certificate is for another name): use a name that is in the certificate",
      environment: { ...token, NODE_EXTRA_CA_CERTS: certificate.path },
    },
    {
      why: "a token with a line end",
      words: [...words, "--url", nothing],
      says: "is not a token",
      environment: { PLANT_STORE_TOKEN: "x\ny" },
    },
  ]),

  {
    why: "a port in use",
    words: ["serve", "--data", at("new"), "--port", String(strange.port)],
    says: "another program uses it: choose another port with --port",
  },
  {
    why: "an address of another machine",
    words: ["serve", "--data", at("new"), "--port", "0", "--host", "203.0.113.7"],
    says: "this machine does not have that address: name one of its own with --host",
  },
  {
    why: "a host without an address",
    words: ["serve", "--data", at("new"), "--port", "0", "--host", "nowhere.invalid"],
    says: "name one of its own with --host",
  },
  {
    why: "metrics at an address of another machine",
    words: ["serve", "--data", at("new"), "--port", "0", "--metrics", "203.0.113.7:9464"],
    says: "name one of its own with --metrics",
  },
];

/** Only root can become another user, who needs a store. */
if (isRoot) {
  chmodSync(folder, 0o755);
  writeFileSync(at("secret"), "x", { mode: 0o600 });
  cpSync(store, at("theirs"), { recursive: true });
  for (const name of ["", ...readdirSync(at("theirs"))]) chownSync(at(`theirs/${name}`), STRANGER, STRANGER);
}

const strangersTroubles: readonly Trouble[] = [
  { why: "a folder out of reach", words: ["backup", at("closed/x"), "--data", at("theirs")], says: "this user may not use it" },
  { why: "a folder of another user", words: ["backup", at("x.gz"), "--data", at("theirs")], says: "cannot be written" },
  { why: "a folder of another user", words: ["export", at("x"), "--data", at("theirs")], says: "cannot be written" },
  {
    why: "a file of another user",
    words: ["import", at("secret"), "--data", at("theirs")],
    says: "this user may not use it: run this as its owner",
  },
  {
    why: "a file of another user",
    words: ["restore", at("secret"), "--data", at("theirs")],
    says: "this user may not use it: run this as its owner",
  },
].map((trouble) => ({ ...trouble, user: STRANGER }));

describe("a command in trouble", () => {
  for (const { why, words, says, environment, user } of [...troubles, ...strangersTroubles]) {
    const shown = escapeControls(words.map((word) => word.replace(`${folder}/`, "").slice(0, 40)).join(" "));
    const test = user === undefined ? it : needsOtherUser().it;
    test(`says in words what is wrong: ${why}: ${shown}`, async () => {
      const isOwn = user === undefined && !environment?.["NODE_EXTRA_CA_CERTS"];
      const { status, stderr } = isOwn
        ? await runInside(words, environment)
        : await runCommand(words, { ...(environment && { environment }), ...(user && { user, cwd: "/" }) });
      expect(stderr).toContain(says);
      const last = stderr.trimEnd().split("\n").at(-1)!;
      expect(last).toContain(says);
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

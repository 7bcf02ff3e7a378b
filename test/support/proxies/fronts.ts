import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "../certificate.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { findFreePort } from "../port.ts";
import { until } from "../until.ts";
import { PROJECT } from "../process.ts";
import { findProgram } from "../program.ts";
import type { Program } from "../program.ts";

/** A proxy and its configuration in deploy/. */
type Front = Readonly<{
  file: string;
  program: Program;
  /** Its command line. May write more into the folder than the configuration. */
  words: (path: string, folder: string) => string[];
  /** The configuration elsewhere: with its files in the folder, and on a port of the loopback. */
  move: (text: string, folder: string, port: number) => string;
  /** The configuration with TLS, as its comments say. */
  secure: (text: string) => string;
  /** The configuration with the lines of the how-to for a service under a path. */
  underPath: (text: string, lines: string) => string;
  /** A rule that refuses every path that begins with /tokens. */
  rule: string;
  /** What operators write for all sites to compress JSON too. */
  compress: (text: string) => string;
}>;

export type FrontName = "nginx" | "haproxy" | "caddy" | "apache";

export const FRONTS: Readonly<Record<FrontName, Front>> = {
  nginx: {
    file: "nginx.conf",
    program: "nginx",
    words: (path, folder) => ["-c", path, "-e", join(folder, "error"), "-g", `daemon off; pid ${join(folder, "pid")};`],
    move: (text, folder, port) =>
      text
        .replace(/listen (?:8080|443)/, `listen 127.0.0.1:${port}`)
        .replace(
          "http {",
          `http {\n${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n")}`,
        ),
    secure: (text) => uncomment(text.replace("listen 8080;", ""), "# TLS and HTTP/2"),
    underPath: (text, lines) => text.replace(/( *# No path in proxy_pass[^]*?)(?=\n *# nginx's own errors)/, () => lines),
    rule: "location /tokens { return 403; }",
    compress: (text) => text.replace("http {", "http {\ngzip on;\ngzip_proxied any;\ngzip_types application/json;"),
  },
  haproxy: {
    file: "haproxy.cfg",
    program: "haproxy",
    words: (path) => ["-f", path],
    move: (text, _, port) => text.replace(/bind :(?:8080|443)/, `bind 127.0.0.1:${port}`),
    secure: (text) => uncomment(text.replace("bind :8080", ""), "# TLS and HTTP/2"),
    underPath: (text, lines) => text.replace(/\n.*# Rules of your own.*\n/, (line) => `${line}${lines}\n`),
    rule: "http-request deny if { path_beg /tokens }",
    compress: (text) => text.replace("defaults\n", "defaults\n  compression algo gzip\n  compression type application/json\n"),
  },
  caddy: {
    file: "Caddyfile",
    program: "caddy",
    words: (path) => ["run", "--adapter", "caddyfile", "--config", path],
    move: (text, _, port) =>
      text
        .replace(/\n(localhost)?:8080 \{/, (_all, host = "") => `\n${host}:${port} {\nbind 127.0.0.1`)
        .replace("{\n", "{\nadmin off\nauto_https disable_redirects\n"),
    secure: (text) => uncomment(text.replace("\n:8080", "\nlocalhost:8080"), "# Or a certificate"),
    underPath: (text, lines) => text.replace("\troute {\n", (line) => `${line}${lines}\n`),
    rule: "respond /tokens* 403",
    compress: (text) =>
      text.replace("\troute {\n", "\tencode {\n gzip\n minimum_length 1\n match header Content-Type application/json*\n}\n\troute {\n"),
  },
  apache: {
    file: "apache.conf",
    program: "apache2",
    words: (path, folder) => {
      writeFileSync(join(folder, "main.conf"), apacheMain(readFileSync(path, "utf8"), path, folder));
      return ["-d", folder, "-f", join(folder, "main.conf"), "-D", "FOREGROUND"];
    },
    move: (text, _, port) => text.replace(/Listen (?:8080|443)/, `Listen 127.0.0.1:${port}`).replace(/\*:(?:8080|443)>/, `*:${port}>`),
    secure: (text) => uncomment(text.replaceAll(/(Listen |\*:)8080/g, "$1443"), "# TLS and HTTP/2"),
    underPath: (text, lines) => text.replace("  ProxyPass / balancer://replicas/ nocanon", () => lines),
    rule: "<Location /tokens>\nRequire all denied\n</Location>",
    compress: (text) => `# a2enmod filter deflate\nAddOutputFilterByType DEFLATE application/json\n${text}`,
  },
};

export const FRONT_NAMES = Object.keys(FRONTS) as FrontName[];

const APACHE_MODULES = "/usr/lib/apache2/modules";

/**
 * What Debian's own files set up around a site: the modules that are always enabled, and those that the site's comment
 * says to enable.
 */
function apacheMain(site: string, path: string, folder: string): string {
  const modules = ["mpm_event", "authz_core", ...Array.from(site.matchAll(ENABLED), ([, names = ""]) => names.split(" ")).flat()];
  return `ServerName plants
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/error
User www-data
Group www-data
Include /etc/apache2/mods-available/mpm_event.conf
${modules.map((name) => `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so`).join("\n")}
Include ${path}
`;
}

/** The comments of Apache's configuration that name modules to enable. */
const ENABLED = /a2enmod ([a-z][\w ]+)/g;

type FrontOptions = Readonly<{
  /** Where the replicas listen. One that there is not takes its place behind the first. */
  hosts: readonly string[];
  edit?: (text: string) => string;
  /** Serves TLS with this certificate, as the comments of the configuration say. */
  certificate?: Certificate;
  /** What answers 200 when the proxy and a replica are ready. */
  probe?: string;
}>;

type OpenFront = Readonly<{ url: string; folder: string }>;

const running = new Set<ChildProcess>();

export function shippedText(name: FrontName): string {
  return readFileSync(join(PROJECT, "deploy", FRONTS[name].file), "utf8");
}

/**
 * Starts a proxy with its configuration in deploy/, except for addresses and files, and the changes of `edit`. Resolves
 * with its URL when it answers.
 */
export async function startFront(name: FrontName, options: FrontOptions): Promise<string> {
  return (await openFront(name, options)).url;
}

/** The same, and the folder where the proxy keeps what it does not keep in memory. */
export async function openFront(
  name: FrontName,
  { hosts, edit = (text) => text, certificate, probe = "/readyz" }: FrontOptions,
): Promise<OpenFront> {
  const front = FRONTS[name];
  const folder = temporaryFolder();
  // The proxies drop the rights of root.
  chmodSync(folder, 0o755);
  const port = await findFreePort();
  const text = certificate ? front.secure(shippedText(name)).replaceAll("/etc/ssl/plants", certificate.folder) : shippedText(name);
  const moved = front.move(edit(text), folder, port).replaceAll(/\bplants-(\d):8080/g, (_, at) => hosts[Number(at) - 1] ?? hosts[0]!);
  const path = join(folder, front.file);
  writeFileSync(path, moved);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(findProgram(front.program), front.words(path, folder), { stdio: ["ignore", "ignore", "ignore"], env });
  running.add(child);
  const url = certificate ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const trusting = certificate ? { tls: { ca: certificate.text } } : {};
  await until(`${name} answers`, async () => (await fetch(url + probe, trusting).catch(() => undefined))?.status === 200);
  return { url, folder };
}

/** The configuration with a rule, at the place for rules, that refuses every path that begins with /tokens. */
export function addRule(name: FrontName, text: string): string {
  return text.replace(/\n.*# Rules of your own.*\n/, (line) => `${line}${FRONTS[name].rule}\n`);
}

/** Ends every proxy that still runs. */
export async function endFronts(): Promise<void> {
  for (const child of running) {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGTERM");
    await exited;
    running.delete(child);
  }
}

/** Makes lines of a comment count: those between its first line, which begins like this, and an empty line or other text. */
function uncomment(text: string, first: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.trim().startsWith(first));
  if (start === -1) throw new Error(`The configuration has no comment that begins with ${first}.`);
  for (let at = start + 1; lines[at]!.trim().startsWith("# "); at += 1) lines[at] = lines[at]!.replace("# ", "");
  return lines.join("\n");
}

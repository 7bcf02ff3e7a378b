import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { makeCertificate } from "../support/certificate.ts";
import { needs, findProgram } from "../support/program.ts";
import { PROJECT } from "../support/process.ts";
import { endFronts, FRONT_NAMES, FRONTS, openFront, startFront } from "../support/proxies/fronts.ts";
import type { FrontName } from "../support/proxies/fronts.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { askUntil, until } from "../support/until.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Certificate } from "../support/certificate.ts";

/** What curl received. The text has a character for each byte. */
type CurlAnswer = Readonly<{ version: string; status: number; headers: Headers; text: string }>;

type CurlOptions = Readonly<{
  certificate: Certificate;
  /** The address of the loopback that the client has. */
  from: string;
  token?: string;
  words?: readonly string[];
  /** The body, with `-T -` among the words. */
  input?: AsyncIterable<Uint8Array>;
  /** Waits before it reads what curl has received. */
  whileUnread?: () => Promise<void>;
}>;

/** Sends a request with curl, over HTTP/2 if the other side can. Rejects if curl says that it failed. */
async function curl(url: string, { certificate, from, token, words = [], input, whileUnread }: CurlOptions): Promise<CurlAnswer> {
  const login = token === undefined ? [] : ["-H", `authorization: Bearer ${token}`];
  const usual = ["-sS", "-4", "-D", "-", "--path-as-is", "--cacert", certificate.path, "--interface", from];
  const child = spawn(findProgram("curl"), [...usual, ...login, ...words, url], { stdio: [input ? "pipe" : "ignore", "pipe", "pipe"] });
  if (input) Readable.from(input).pipe(child.stdin!);
  // curl ends before it has read everything if the other side refuses the body.
  child.stdin?.on("error", () => {});
  let trouble = "";
  child.stderr!.on("data", (chunk: Buffer) => (trouble += chunk.toString()));
  await whileUnread?.();
  const chunks: Buffer[] = [];
  child.stdout!.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`curl ended with ${code}: ${trouble}`);
  return parse(Buffer.concat(chunks).toString("latin1"));
}

function parse(output: string): CurlAnswer {
  const start = /^(?:HTTP\/[\d.]+ 1\d\d[^]*?\r\n\r\n)*/.exec(output)![0].length;
  const end = output.indexOf("\r\n\r\n", start);
  const [first = "", ...lines] = output.slice(start, end).split("\r\n");
  const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  const [version = "", status] = first.split(" ");
  return { version, status: Number(status), headers, text: output.slice(end + 4) };
}

const { describe, it, beforeAll } = needs("nginx", "haproxy", "caddy", "apache2", "curl");

const certificate = makeCertificate();
const tls = { ca: certificate.text };

/** A file of 30 MB, which no buffer holds, and which nginx refuses unless it is told not to. */
const ROWS = 500;
const UPLOAD = ["-X", "POST", "-T", "-", "-H", "content-type: application/x-ndjson"];
/** What a proxy may write to its disk meanwhile. */
const DISK_BYTES_MAX = 100_000;
const REFUSED_MAX = 30;
/** How long a proxy lets anyone be silent in the test of that, and how long a sender takes there. */
const SILENCE_SECONDS = 1;
const PIECES = 12;
const PIECE_MS = 250;

type Place = Awaited<ReturnType<typeof openPlace>>;

const places = new Map<FrontName, Place>();
let service: Service;
let flags: readonly string[];
let token: string;
let hosts: readonly string[];

beforeAll(async () => {
  const limits = ["--refused-requests-per-minute", String(REFUSED_MAX), "--metrics", "127.0.0.1:0"];
  flags = [...PATIENT, "--log", "debug", "--trusted-proxies", "127.0.0.1", ...limits];
  service = await startService({ flags });
  hosts = [new URL(service.url).host];
  ({ token } = service);
  await Promise.all(FRONT_NAMES.map(async (name, at) => places.set(name, await openPlace(name, at + 1))));
});

afterAll(async () => {
  await endFronts();
  await killServices();
});

/**
 * The proxy in front, and another one with the service under a path. Two clients have addresses of their own. The proxies
 * connect from 127.0.0.1, and no one else is trusted.
 */
async function openPlace(name: FrontName, at: number) {
  const edit = (text: string) => FRONTS[name].underPath(text, linesOfGuide(name));
  const [front, under] = await Promise.all([
    openFront(name, { hosts, certificate }),
    startFront(name, { hosts, certificate, edit, probe: "/plants-app/readyz" }),
  ]);
  return { ...front, pathUrl: `${under}/plants-app`, anna: `127.0.${at}.5`, berta: `127.0.${at}.6`, firstId: at * 1000 };
}

function linesFrom(firstId: number, rows: number): string {
  const plant = (at: number) => ({ id: firstId + at, name: `${at} ${"x".repeat(60_000)}`, tag: `file of ${firstId}` });
  return Array.from({ length: rows }, (_, at) => `${JSON.stringify(plant(at))}\n`).join("");
}

/** The lines for a service under a path that the how-to has for this proxy. */
function linesOfGuide(name: FrontName): string {
  const page = readFileSync(join(PROJECT, "docs/how-to/run-behind-a-proxy.md"), "utf8");
  const [, lines] = new RegExp(`^\`\`\`${name === "caddy" ? "caddyfile" : name}\\n([^]*?plants-app[^]*?)\`\`\`$`, "m").exec(page)!;
  return lines!;
}

function ask(url: string, options: Partial<CurlOptions> = {}) {
  return curl(url, { certificate, from: "127.0.0.5", ...options });
}

/** Creates, changes and reads a plant, with conditions, and follows the references in the answers. */
async function usePlant(url: string, id: number) {
  const json = ["-H", "content-type: application/json"];
  const made = await ask(`${url}/plants`, { token, words: [...json, "-d", `{"id":${id},"name":"Acer","tag":"tree"}`] });
  const at = new URL(made.headers.get("content-location") ?? "", `${url}/plants`).href;
  const patch = (etag: string | null) =>
    ask(at, { token, words: [...json, "-X", "PATCH", "-H", `if-match: ${etag}`, "-d", '{"name":"Salix"}'] });
  const refused = await patch('"other"');
  const patched = await patch(made.headers.get("etag"));
  const known = await ask(at, { token, words: ["-H", `if-none-match: ${patched.headers.get("etag")}`] });
  return { made, at, refused, patched, known };
}

/** How much a proxy keeps in the files of its folder. */
function bytesOnDisk({ folder }: Place): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** How many exports the service is at. */
async function runningExports(): Promise<number> {
  const text = await (await fetch(service.started["metrics"]!)).text();
  return Number(/^plant_store_running\{kind="export"\} (\d+)$/m.exec(text)?.[1]);
}

type Logged = Readonly<{ event: string; path?: string; address?: string }>;

function requests(): Logged[] {
  return service.lines.map((line) => JSON.parse(line) as Logged).filter(({ event }) => event === "request");
}

/** The address that the service logs for the request to this path. */
async function addressOf(path: string): Promise<string | undefined> {
  return askUntil(
    () => requests().find((line) => line.path === path)?.address,
    (address) => address !== undefined,
  );
}

/** What a client sends who would rather be someone else. */
const DISGUISES = [
  ["x-forwarded-for: 192.0.2.66"],
  ["x-forwarded-for: 192.0.2.66", "x-forwarded-for: 192.0.2.67"],
  ["x-forwarded-for: 192.0.2.66, 127.0.0.1"],
  ["x-forwarded-for;"],
  ["forwarded: for=192.0.2.66"],
  ["forwarded: for=192.0.2.66", "forwarded: for=127.0.0.1"],
  ["x-real-ip: 192.0.2.66", "client-ip: 192.0.2.66", "x_forwarded_for: 192.0.2.66"],
];
/** Over HTTP/1.1 one can also ask that a field goes no further. */
const STRIPPING = ["connection: close, x-forwarded-for", "connection: x-forwarded-for, forwarded"];

for (const name of FRONT_NAMES) {
  const here = () => places.get(name)!;

  describe(`${name} with TLS, as its comments say,`, () => {
    it("serves the interface over HTTP/2 and HTTP/1.1, and changes no tag, no packing and no error", async () => {
      const { url, firstId, anna } = here();
      const id = firstId + 998;
      const { made, at, refused, patched, known } = await usePlant(url, id);
      expect([made.version, made.status, at, patched.status, known.status]).toEqual(["HTTP/2", 200, `${url}/plants/${id}`, 200, 304]);
      expect(made.headers.get("etag")).toStartWith('"');
      expect([refused.status, refused.headers.get("content-type")]).toEqual([412, "application/json"]);
      expect(JSON.parse(refused.text)).toMatchObject({ error: 41200 });
      const anonymous = await ask(`${url}/plants`, { from: anna });
      expect([anonymous.status, anonymous.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="plant-store"']);
      const packed = await ask(`${url}/openapi.json`, { words: ["--http1.1", "-H", "accept-encoding: gzip"] });
      const direct = await fetch(`${service.url}/openapi.json`, { headers: { "accept-encoding": "gzip" } });
      expect(packed.version).toBe("HTTP/1.1");
      for (const field of ["content-encoding", "etag", "vary"]) expect(packed.headers.get(field)).toBe(direct.headers.get(field));
    });

    it("passes on 30 MB while they arrive, and while they are read, and keeps none of them on the disk", async () => {
      const place = here();
      const { url, firstId } = place;
      const half = ROWS / 2;
      const halfStored = Promise.withResolvers<void>();
      async function* halves() {
        yield Buffer.from(linesFrom(firstId, half));
        await halfStored.promise;
        yield Buffer.from(linesFrom(firstId, ROWS).slice(linesFrom(firstId, half).length));
      }
      const sending = ask(`${url}/plants/import`, { token, words: UPLOAD, input: halves() });
      const isStored = async (at: number) => (await service.ask("GET", `/plants/${firstId + at}`)).ok;
      await until("The first plants are stored", () => isStored(half / 2));
      expect([await isStored(ROWS - 1), bytesOnDisk(place) < DISK_BYTES_MAX]).toEqual([false, true]);
      halfStored.resolve();
      const { status, text } = await sending;
      expect([status, JSON.parse(text)]).toMatchObject([200, { read: ROWS, created: ROWS }]);

      const whileUnread = async () => {
        await until("The export runs", async () => (await runningExports()) === 1);
        await Bun.sleep(500);
        expect([await runningExports(), bytesOnDisk(place) < DISK_BYTES_MAX]).toEqual([1, true]);
      };
      const exported = await ask(`${url}/plants/export?tag=file+of+${firstId}`, { token, whileUnread });
      expect(exported.text === linesFrom(firstId, ROWS)).toBe(true);
    });

    it("lets no one choose an address, in the log and for the limits", async () => {
      const { url, anna, berta } = here();
      const disguises = [...DISGUISES.map((fields) => ({ fields, version: "--http2" })), { fields: STRIPPING, version: "--http1.1" }];
      for (const [at, { fields, version }] of disguises.entries()) {
        const words = [version, ...fields.flatMap((field) => ["-H", field])];
        await ask(`${url}/${name}-disguise-${at}`, { from: anna, words });
        expect(await addressOf(`/${name}-disguise-${at}`)).toBe(anna);
      }
      const wrong = { token: "wrong", from: berta };
      // Twice as many: a slow proxy takes so long for them that the first ones count no more.
      await ask(`${url}/plants?[1-${2 * REFUSED_MAX}]`, { ...wrong, words: ["-o", "/dev/null"] });
      expect((await ask(`${url}/plants`, { ...wrong, words: ["-H", "x-forwarded-for: 192.0.2.66"] })).status).toBe(429);
      expect((await ask(`${url}/plants`, { ...wrong, from: anna })).status).toBe(401);
      expect((await ask(`${url}/session`, { token, from: berta })).status).toBe(200);
    });

    it("serves the page, the interface and files under a path, with the lines of the how-to", async () => {
      const { pathUrl, firstId } = here();
      const bare = await ask(pathUrl);
      expect([bare.status, new URL(bare.headers.get("location")!, pathUrl).href]).toEqual([308, `${pathUrl}/`]);
      for (const page of ["", "docs"]) {
        const { text } = await ask(`${pathUrl}/${page}`);
        const references = Array.from(text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g), ([, reference]) => reference!);
        expect(references.length).toBeGreaterThan(1);
        for (const reference of references) expect((await ask(new URL(reference, `${pathUrl}/${page}`).href)).status).toBe(200);
      }
      const id = firstId + 999;
      const { made, at, patched, known } = await usePlant(pathUrl, id);
      expect([made.status, at, patched.status, known.status]).toEqual([200, `${pathUrl}/plants/${id}`, 200, 304]);
      const input = Readable.from([Buffer.from(linesFrom(firstId, 40))]);
      expect(JSON.parse((await ask(`${pathUrl}/plants/import`, { token, words: UPLOAD, input })).text)).toMatchObject({ read: 40 });
      const client = createClient({ url: pathUrl, token, fetch: (address, init) => fetch(address, { ...init, tls } as RequestInit) });
      const listed = await Array.fromAsync(client.list({ limit: 1, tag: "tree", after: BigInt(firstId) }));
      expect(listed.slice(0, 2).map((plant) => plant.id)).toEqual([BigInt(id - 1), BigInt(id)]);
      // What is not under the path is not there.
      expect((await ask(`${new URL(pathUrl).origin}/plants`, { token })).status).toBe(404);
      for (const above of ["/../plants", "/%2e%2e/plants", "/..%2fplants", "/plants/../../plants"])
        expect((await ask(`${pathUrl}${above}/${id}`, { token })).status).toBe(404);
    });
  });
}

it("every proxy names the client in X-Forwarded-For, and passes on nothing that the client wrote there or into Forwarded", async () => {
  const echo = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ headers }) => Response.json(Object.fromEntries(headers)) });
  const disguises = DISGUISES.flat().flatMap((field) => ["-H", field]);
  const see = async (name: FrontName) => {
    const url = await startFront(name, { hosts: [`127.0.0.1:${echo.port}`], certificate });
    return JSON.parse((await ask(url, { from: "127.0.0.9", words: disguises })).text) as Record<string, string>;
  };
  const seen = await Promise.all(FRONT_NAMES.map(see));
  await echo.stop(true);
  const forwarding = seen.map((headers) => [headers["x-forwarded-for"], headers["x-forwarded-proto"], headers["forwarded"]]);
  expect(forwarding).toEqual(seen.map(() => ["127.0.0.9", "https", undefined]));
});

it("every proxy lets a sender take longer than it lets him be silent", async () => {
  const edit = (text: string) => text.replaceAll(/\b75(s?)\b/g, `${SILENCE_SECONDS}$1`);
  const lines = linesFrom(0, PIECES).split(/(?<=\n)/);
  async function* pieces() {
    for (const line of lines) {
      yield Buffer.from(line);
      await Bun.sleep(PIECE_MS);
    }
  }
  const send = async (name: FrontName) => {
    const url = await startFront(name, { hosts, certificate, edit });
    return (await ask(`${url}/plants/import`, { token, words: UPLOAD, input: pieces() })).text;
  };
  for (const text of await Promise.all(FRONT_NAMES.map(send))) expect(JSON.parse(text)).toMatchObject({ read: PIECES });
});

it("every proxy says while the service restarts that it is away and when to ask again, and finds it afterwards", async () => {
  await service.end("SIGTERM");
  const askUntilStatus = (url: string, status: number) =>
    askUntil(
      () => ask(`${url}/session`, { token }),
      (answer) => answer.status === status,
    );
  for (const { url } of places.values()) {
    const { headers, text } = await askUntilStatus(url, 503);
    expect([headers.get("retry-after"), headers.get("content-type"), JSON.parse(text)]).toMatchObject([
      "1",
      "application/json",
      { error: 50301 },
    ]);
  }
  await startService({ data: service.data, flags: [...flags, "--port", new URL(service.url).port] });
  for (const { url } of places.values()) expect((await askUntilStatus(url, 200)).status).toBe(200);
});

import { afterAll, afterEach, expect } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { ConnectionError, createClient } from "../../src/client/client.ts";
import { TOKENS_TARGETS } from "../corpus.ts";
import { needs } from "../support/program.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { sendRaw, statusesIn, toRequest } from "../support/raw-http.ts";
import { endAttacks, startOdd } from "../support/attack/attack.ts";
import { runClients } from "../support/attack/clients.ts";
import { rejectionOf } from "../support/rejection.ts";
import { inForm, tell } from "../support/run-form.ts";
import { addRule, endFronts, FRONT_NAMES, FRONTS, shippedText, startFront } from "../support/proxies/fronts.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";

/**
 * Three replicas that keep plants in memory, on the runtime's own server, with its bugs: an unknown method closes the
 * connection without a response, and late trailers are answered with a second 400
 * (https://github.com/oven-sh/bun/pull/32887). A proxy has to stop both to protect clients. The replicas accept any
 * token.
 */
function startCareless(): Readonly<{ hosts: readonly string[]; stop(): void }> {
  const plants = new Map([["/readyz", "{}"]]);

  async function answer(request: Request): Promise<Response> {
    const headers = { "x-request-id": request.headers.get("x-request-id") ?? "", "content-type": "application/json" };
    const text = await request.text();
    const path = /\/(?:plants\/\d+|readyz)$/.exec(request.url)?.[0] ?? "";
    const id = /^\{"id":(\d+),/.exec(text)?.[1];
    if (request.method === "POST" && id !== undefined) {
      plants.set(`/plants/${id}`, text);
      return new Response(text.replace(/"id":\d+,/, ""), { headers });
    }
    const found = plants.get(path);
    return new Response(found ?? "{}", { status: found === undefined ? 404 : 200, headers });
  }

  const servers = Array.from({ length: 3 }, () =>
    Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer, development: false, error: () => new Response(null, { status: 500 }) }),
  );
  return { hosts: servers.map(({ port }) => `127.0.0.1:${port}`), stop: () => servers.forEach((server) => void server.stop(true)) };
}

const { describe, it, beforeAll } = needs("nginx", "haproxy", "caddy", "apache2");

/** Without its guards HAProxy harms one in thousands, the others one in ten and more: fewer show as much there. */
const requestsFor = (name: string) => inForm(name === "haproxy" ? 8000 : 2000, 80_000);
const carelessRequestsFor = (name: string) => inForm(name === "haproxy" ? 4000 : 1000, 20_000);
const GARDEN = "https://garden.example";
const CLOSE = ["Connection: close"];

let hosts: readonly string[];
let tokens: Readonly<{ full: string; reader: string }>;
let nextId = 1;
/** A store of 60 MB, which is more than all buffers on the way take. */
let catalogue: Readonly<{ data: string; token: string }>;

beforeAll(async () => {
  const database = await (await sharedCluster()).createDatabase();
  const start = () => startService({ flags: [...PATIENT, "--database", database, "--origins", GARDEN] });
  const first = await start();
  hosts = [first, await start(), await start()].map(({ url }) => new URL(url).host);
  const made = await first.ask("POST", "/tokens", '{"name":"reader","scopes":["plants:read"]}');
  tokens = { full: first.token, reader: ((await made.json()) as { token: string }).token };
  catalogue = await makeCatalogue();
});

afterEach(async () => {
  endAttacks();
  await endFronts();
});
afterAll(killServices);

/** Not every runtime notices that a packed file broke off, and this one would. */
function fetchUnpacked(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("accept-encoding", "identity");
  return fetch(url, { ...init, headers });
}

async function makeCatalogue(): Promise<typeof catalogue> {
  const { url, data, token, end } = await startService({ flags: PATIENT });
  const name = "Monstera ".repeat(1000);
  await createClient({ url, token }).importPlants(Array.from({ length: 7000 }, (_, at) => ({ id: BigInt(at), name })));
  await end("SIGTERM");
  return { data, token };
}

/** What the victims of a proxy saw while an attacker sent odd requests: so many victims, and more until all of those were sent. */
async function attackThrough(url: string, requests: number) {
  const odd = await startOdd({ url, token: tokens.reader });
  const wrong: string[] = [];
  let answered = 0;
  do {
    const seen = await runClients({ url, token: tokens.full, clients: 64, firstId: nextId, isOver: (asked) => asked >= requests });
    nextId += requests + 2;
    answered += seen.answered;
    wrong.push(...seen.wrong);
  } while (!odd.counts().isWhole);
  await odd.end();
  return { answered, wrong, odd: odd.counts() };
}

for (const name of FRONT_NAMES) {
  describe(`${name} as it is shipped`, () => {
    it("gives no one a wrong response because of requests that proxies and services misread", async () => {
      const { answered, wrong, odd } = await attackThrough(await startFront(name, { hosts }), requestsFor(name));
      expect(wrong).toEqual([]);
      expect(answered).toBeGreaterThanOrEqual(requestsFor(name));
      expect(odd.statuses["501"]).toBeGreaterThan(0);
      tell("proxies", `${name}: ${answered} right answers, ${wrong.length} wrong beside ${odd.sent} odd requests`);
    });

    it("does the same in front of replicas that close on unknown methods and answer trailers", async () => {
      const careless = startCareless();
      const { wrong } = await attackThrough(await startFront(name, careless), carelessRequestsFor(name));
      careless.stop();
      expect(wrong).toEqual([]);
    });

    it("answers an unsupported method itself, with the error of the interface", async () => {
      const url = await startFront(name, { hosts });
      for (const method of ["PLANT", "PROPFIND", "BREW"]) {
        const { text } = await sendRaw(url, [toRequest(`${method} /plants`, { fields: CLOSE })]);
        expect(text).toStartWith("HTTP/1.1 501 ");
        expect(text).toMatch(/^content-type: application\/json\r$/im);
        expect(text).toContain('{"error":50100,');
      }
    });

    it("passes on what a browser asks for a page of another origin, and what the service says, once", async () => {
      const url = await startFront(name, { hosts });
      const fields = [`Origin: ${GARDEN}`, "Access-Control-Request-Method: PUT", ...CLOSE];
      const answers = await Promise.all(["OPTIONS", "GET"].map((method) => sendRaw(url, [toRequest(`${method} /plants/1`, { fields })])));
      const [asked = [], refused = []] = answers.map(({ text }) => text.match(/^(?:access-control-[\w-]+|vary): .*(?=\r$)/gim)?.toSorted());
      expect(answers.map(({ text }) => statusesIn(text))).toEqual([[204], [401]]);
      const shared = [`access-control-allow-origin: ${GARDEN}`, "access-control-expose-headers: *", "vary: Origin"];
      expect(refused.map((line) => line.toLowerCase())).toEqual(shared.map((line) => line.toLowerCase()));
      expect(asked.map((line) => line.toLowerCase())).toContain("access-control-allow-headers: authorization, *");
    });

    it("answers what it cannot read as a mistake of the client, not as its own failure, and an error with its own status", async () => {
      const url = await startFront(name, { hosts });
      const targets = [
        "/plants/%zz",
        "/plants/%00",
        `/plants?q=${"x".repeat(17_000)}`,
        `/livez HTTP/1.1\r\nX: ${"x".repeat(40_000)}\r\nY:`,
      ];
      const answers = await Promise.all(targets.map((target) => sendRaw(url, [toRequest(`GET ${target}`, { fields: CLOSE })])));
      for (const { text } of answers) {
        const [, error] = /"error":(\d+)/.exec(text) ?? [];
        if (error !== undefined) expect(statusesIn(text)).toEqual([Math.trunc(Number(error) / 100)]);
      }
      const statuses = answers.flatMap(({ text }) => statusesIn(text));
      expect(statuses.map((status) => Math.trunc(status / 100))).toEqual([4, 4, 4, 4]);
    });

    it("passes on nearly as many headers as the service takes: it may add some", async () => {
      const url = await startFront(name, { hosts });
      const fields = [...Array.from({ length: 190 }, (_, at) => `X-${at}: ${at}`), ...CLOSE];
      const { text } = await sendRaw(url, [toRequest("GET /livez", { fields })]);
      expect(statusesIn(text)).toEqual([200]);
    });

    it("passes no half of an export to the client as a whole one, if the service is killed", async () => {
      const service = await startService({ data: catalogue.data });
      const url = await startFront(name, { hosts: Array.from({ length: 3 }, () => new URL(service.url).host) });
      const { token } = catalogue;
      const pieces = (await createClient({ url, token, fetch: fetchUnpacked }).exportPlants()).getReader();
      await pieces.read();
      await service.end("SIGKILL");
      const readAll = async (): Promise<void> => {
        while (!(await pieces.read()).done);
      };
      expect(await rejectionOf(readAll())).toBeInstanceOf(ConnectionError);
    });

    it("has only errors of the catalogue in its configuration", () => {
      const found = Array.from(shippedText(name).matchAll(/\{"error":\d+,"message":"[^"]+"\}/g), ([text]) => text);
      expect(found.length).toBeGreaterThan(1);
      expect(Object.values(CATALOGUE).map((entry) => JSON.stringify(entry))).toEqual(expect.arrayContaining(found));
    });

    it("enforces a rule about /tokens, however the path is written", async () => {
      const withRule = await startFront(name, { hosts, edit: (text) => addRule(name, text) });
      const reached: string[] = [];
      for (const target of ["/tokens", ...TOKENS_TARGETS]) {
        const request = toRequest(`GET ${target}`, { token: tokens.full, fields: CLOSE });
        const { text } = await sendRaw(withRule, [request], { waitMs: 2000 });
        if (statusesIn(text).some((status) => status < 400) || text.includes('"scopes"')) reached.push(`${target}: ${text}`);
      }
      expect(reached).toEqual([]);
      const withoutRule = await startFront(name, { hosts });
      const response = await fetch(`${withoutRule}/%74okens`, { headers: { authorization: `Bearer ${tokens.full}` } });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"scopes"')]);
    });
  });
}

/** One replica of each of three versions: each has a page whose script the others do not have. */
function startVersions() {
  const asked: string[] = [];
  const servers = ["one", "two", "three"].map((version) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch({ method, url }) {
        // The health check of HAProxy names no host.
        const { pathname } = new URL(url, "http://replica");
        if (pathname === "/readyz") return new Response();
        asked.push(`${method} ${pathname}`);
        return pathname === `/assets/${version}.js` ? new Response(version) : new Response("", { status: 404 });
      },
    }),
  );
  return {
    hosts: servers.map(({ port }) => `127.0.0.1:${port}`),
    countAsked: (what: string) => asked.filter((one) => one === what).length,
    stop: () => Promise.all(servers.map((server) => server.stop(true))),
  };
}

for (const name of ["nginx", "haproxy"] as const) {
  it(`${name} finds the files of a page on the replica that has them, while each is of another version, and asks once for all else`, async () => {
    const versions = startVersions();
    const url = await startFront(name, versions);
    const files = Array.from({ length: 4 }, () => ["one", "two", "three"]).flat();
    const found: string[] = [];
    // One after the other: the turn of the replicas moves on between them.
    for (const file of files) found.push(await (await fetch(`${url}/assets/${file}.js`)).text());
    expect(found).toEqual(files);
    expect((await fetch(`${url}/assets/nobodys.js`)).status).toBe(404);
    for (const method of ["GET", "DELETE"]) expect((await fetch(`${url}/plants/1`, { method })).status).toBe(404);
    expect(["GET /plants/1", "DELETE /plants/1"].map(versions.countAsked)).toEqual([1, 1]);
    await versions.stop();
  });
}

/** What becomes of the tag of a plant that was read compressed: the status of a change on it. */
async function changeCompressed(url: string): Promise<Readonly<{ tag: string; status: number }>> {
  const headers = { authorization: `Bearer ${tokens.full}`, "content-type": "application/json", "accept-encoding": "gzip" };
  const plant = `${url}/plants/${(nextId += 1)}`;
  await fetch(plant, { method: "PUT", headers, body: JSON.stringify({ name: "Acer ".repeat(100) }) });
  const read = await fetch(plant, { headers });
  const tag = read.headers.get("etag")!;
  const changed = await fetch(plant, { method: "PATCH", headers: { ...headers, "if-match": tag }, body: '{"tag":"tree"}' });
  return { tag, status: changed.status };
}

const OWN = /^"[\w-]{22}"$/;

for (const name of ["nginx", "caddy", "apache"] as const) {
  it(`${name}, which compresses for other sites, leaves the tags of this one as they are`, async () => {
    const url = await startFront(name, { hosts, edit: FRONTS[name].compress });
    expect(await changeCompressed(url)).toMatchObject({ tag: expect.stringMatching(OWN) as string, status: 200 });
  });
}

import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { createRepresent, packTexts } from "../../src/http/representation.ts";
import { expectConform } from "../support/conform.ts";
import { rejectionOf } from "../support/rejection.ts";
import { askUntil, until } from "../support/until.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

const lines = Array.from({ length: 3000 }, (_, id) => `{"id":${id},"name":"Monstera ${id} deliciosa 🌿","tag":"tag ${id % 60}"}\n`).join(
  "",
);
expect((await service.request("/plants/import", { method: "POST", body: lines })).status).toBe(200);
// The search index lags behind; until it is there the search answers 503.
await until("The last plant is found", async () => {
  const response = await service.request("/plants?q=monst&after=2998");
  return response.status === 200 && (await response.text()) !== "[]";
});

const UNPACK: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = { gzip: gunzipSync, zstd: zstdDecompressSync };

/** The response as it came over the wire. */
function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return service.request(path, { method, headers: { "accept-encoding": "identity", ...headers }, decompress: false } as object);
}

/** The text of a response, and its content coding. */
async function read(response: Response): Promise<readonly [coding: string | null, text: string]> {
  const coding = response.headers.get("content-encoding");
  const bytes = new Uint8Array(await response.arrayBuffer());
  return [coding, new TextDecoder().decode(coding === null ? bytes : UNPACK[coding]!(bytes))];
}

const LISTS = ["/plants?limit=1000", "/plants?tag=tag%207&limit=100", "/plants?q=monst&limit=200", "/tags"];
const EXPORTS = ["/plants/export", "/plants/export?format=csv", "/plants/export?profile=dwc"];
const CONTRACTS = ["/openapi.json", "/openapi/1.0.0.json"];

describe("a compressed response", () => {
  const bits = [...LISTS, ...EXPORTS].flatMap((path) => ["gzip", "zstd"].map((coding) => ({ path, coding })));
  for (const { path, coding } of [...bits, ...CONTRACTS.map((contract) => ({ path: contract, coding: "gzip" }))]) {
    it(`${path} in ${coding} decodes to the plain response, and has Vary: Accept-Encoding`, async () => {
      const [plain, packed] = await Promise.all([ask(path), ask(path, { "accept-encoding": `x;q=0.5, ${coding}` })]);
      const [withoutCoding, text] = await read(plain);
      expect([withoutCoding, plain.headers.get("vary")]).toEqual([null, packed.headers.get("vary")]);
      expect(packed.headers.get("vary")!.split(", ")).toContain("Accept-Encoding");
      expect(packed.headers.get("content-type")).toBe(plain.headers.get("content-type"));
      expect(await read(packed)).toEqual([coding, text]);
      expect(text.length).toBeGreaterThan(1024);
    });
  }

  it("is zstd if both are equally acceptable", async () => {
    for (const path of [...LISTS, ...EXPORTS]) {
      const response = await ask(path, { "accept-encoding": "gzip, deflate, br, zstd" });
      expect((await read(response))[0]).toBe("zstd");
    }
  });

  it("is never a short one, a single plant, an error, or one about tokens", async () => {
    for (let at = 0; at < 10; at += 1) {
      const body = JSON.stringify({ name: `token ${at} `.padEnd(100, "x"), scopes: ["plants:read"] });
      const init = { method: "POST", body, headers: { "accept-encoding": "zstd, gzip" }, decompress: false };
      const made = await service.request("/tokens", init);
      expect([made.status, made.headers.get("content-encoding")]).toEqual([200, null]);
    }
    await service.post(JSON.stringify({ id: -1, name: "x".repeat(5000) }));
    for (const [path, least] of [
      ["/plants?limit=2&after=0", 0],
      ["/plants/-1", 5000],
      ["/plants?nothing=1", 0],
      ["/tokens", 1025],
    ] as const) {
      const [coding, text] = await read(await ask(path, { "accept-encoding": "zstd, gzip" }));
      expect([path, coding, text.length >= least]).toEqual([path, null, true]);
    }
    expect((await service.request("/plants/-1", { method: "DELETE" })).status).toBe(204);
  });

  it("is one of four at a time: others are sent uncompressed", async () => {
    const represent = createRepresent();
    const headers = new Headers({ "accept-encoding": "zstd" });
    const answers = Array.from({ length: 10 }, () => represent({ status: 200, body: lines }, headers));
    expect(answers.map((answer) => answer instanceof Promise)).toEqual(answers.map((_, at) => at < 4));
    const coded = (await Promise.all(answers.map((answer) => Promise.resolve(answer)))).map(
      (answer) => answer.headers!["content-encoding"],
    );
    expect(coded).toEqual(answers.map((_, at) => (at < 4 ? "zstd" : undefined)) as string[]);
    // And the next four are compressed again.
    expect(represent({ status: 200, body: lines }, headers)).toBeInstanceOf(Promise);
  });
});

describe("a compressed export", () => {
  it("stops reading if its reader disconnects, so that others can export", async () => {
    for (let at = 0; at < 20; at += 1) {
      const response = await ask("/plants/export", { "accept-encoding": "gzip" });
      await response.body!.cancel();
    }
    const exported = await askUntil(
      () => ask("/plants/export", { "accept-encoding": "gzip" }),
      ({ status }) => status === 200,
    );
    expect((await read(exported))[1]).toBe(lines);
  });

  for (const coding of ["gzip", "zstd"] as const) {
    it(`breaks off in ${coding} with the error of its source, and ends a source that is read no further`, async () => {
      let isEnded = false;
      async function* texts(count: number): AsyncGenerator<string, void, void> {
        try {
          for (let at = 0; at < count; at += 1) yield randomBytes(5000).toString("latin1");
          throw new RangeError("broken");
        } finally {
          isEnded = true;
        }
      }
      expect(await rejectionOf(Array.fromAsync(packTexts(texts(100), coding)))).toEqual(new RangeError("broken"));
      isEnded = false;
      for await (const bytes of packTexts(texts(Infinity), coding)) if (bytes.byteLength > 0) break;
      await until("The source has ended", () => isEnded);
    });
  }
});

describe("an ETag", () => {
  for (const path of LISTS) {
    it(`is weak for ${path}, the same in each coding, and answers 304 without a body`, async () => {
      const answers = await Promise.all(["identity", "gzip", "zstd"].map((coding) => ask(path, { "accept-encoding": coding })));
      const [etag, ...others] = answers.map(({ headers }) => headers.get("etag")!);
      expect(etag).toMatch(/^W\/"[\w-]{22}\+?"$/);
      expect(others).toEqual([etag, etag] as string[]);
      expect(answers[0]!.headers.get("cache-control")).toBe("private, no-cache");
      for (const known of [etag!, etag!.slice(2), `"other", ${etag}`, "*"]) {
        for (const method of ["GET", "HEAD"]) {
          const response = await ask(path, { "if-none-match": known, "accept-encoding": "gzip" }, method);
          expect([response.status, response.headers.get("etag")]).toEqual([304, etag!]);
          expect(response.headers.get("content-encoding")).toBeNull();
          await expectConform({ method: "GET", path: path.replace(/\?.*/, "") }, response);
        }
      }
      const other = await ask(path, { "if-none-match": '"other", W/"other"' });
      expect([other.status, other.headers.get("etag")]).toEqual([200, etag!]);
      await other.body!.cancel();
    });
  }

  it("changes with a plant of its page, and when the first plant after the page appears", async () => {
    const path = "/plants?limit=3&after=2996";
    const first = await ask(path);
    const etag = first.headers.get("etag")!;
    expect([((await first.json()) as unknown[]).length, first.headers.get("link")]).toEqual([3, null]);
    const ifNew = () => ask(path, { "if-none-match": etag });
    expect((await ifNew()).status).toBe(304);
    await service.post('{"id":3000,"name":"behind"}');
    const more = await ifNew();
    expect([more.status, more.headers.get("link") !== null]).toEqual([200, true]);
    await service.request("/plants/3000", { method: "DELETE" });
    expect((await ifNew()).status).toBe(304);
    await service.request("/plants/2998", { method: "PATCH", body: '{"name":"changed"}' });
    expect((await ifNew()).status).toBe(200);
  });

  for (const path of CONTRACTS) {
    it(`is strong for ${path}, different in each coding, and answers 304 in that coding`, async () => {
      const [plain, packed] = await Promise.all([ask(path), ask(path, { "accept-encoding": "gzip" })]);
      const [etag, other] = [plain, packed].map(({ headers }) => headers.get("etag")!);
      expect(etag).toMatch(/^"[\w-]{22}"$/);
      expect(other).toBe(`${etag!.slice(0, -1)}-gzip"`);
      for (const [coding, known, status] of [
        ["identity", etag, 304],
        ["identity", other, 200],
        ["gzip", other, 304],
        ["gzip", etag, 200],
      ] as const) {
        const response = await ask(path, { "accept-encoding": coding, "if-none-match": known! });
        expect([response.status, response.headers.get("vary")]).toEqual([status, "Accept-Encoding"]);
        if (status === 304) await expectConform({ method: "GET", path }, response);
        else await response.body!.cancel();
      }
    });
  }
});

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { securityText } from "../../src/http/security-text.ts";
import type { Fields } from "../../src/http/wire/fields.ts";
import { buildWeb } from "../../web/build.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { partsOf } from "../support/random.ts";
import { startTestService } from "../support/service.ts";
import { builtPage } from "../support/web/built-page.ts";

const web = await builtPage();
const service = await startTestService({}, { web });
afterAll(() => service.stop());

/** A response as it is on the wire. */
async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { "accept-encoding": "identity", ...headers },
    decompress: false,
  });
  return { response, status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const { bytes: index } = await get("/");
/** What the page refers to: its script, its stylesheet. */
const assets = [...index.toString().matchAll(/(?:src|href)="\.?(\/assets\/[^"]+)"/g)].map(([, path]) => path!);

describe("the page", () => {
  it("is at / with any query, without a token", async () => {
    for (const path of ["/", "/?q=mons%20deli&tag=tropical", "/?q=%ff&nothing=known"]) {
      const { status, headers, bytes } = await get(path);
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(bytes.equals(readFileSync(join(web, "index.html")))).toBe(true);
    }
  });

  it("may run its own scripts, call its own service, and nothing else", async () => {
    const { headers } = await get("/");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  });

  it("refers to a script and a stylesheet that exist, and that browsers may cache forever", async () => {
    expect(assets.map((path) => path.replace(/^.*\./, "")).toSorted()).toEqual(["css", "js"]);
    for (const path of assets) {
      const { status, headers } = await get(path);
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
      expect(headers.get("content-type")).toStartWith(path.endsWith(".js") ? "text/javascript" : "text/css");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("is revalidated each time, and answered 304 if it is known", async () => {
    const { headers } = await get("/");
    expect(headers.get("cache-control")).toBe("no-cache");
    const etag = headers.get("etag")!;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await get("/", { "if-none-match": known });
      expect([again.status, again.headers.get("etag"), again.bytes.length]).toEqual([304, etag, 0]);
    }
    for (const unknown of ['"other"', etag.replaceAll('"', ""), `${etag}x`])
      expect((await get("/", { "if-none-match": unknown })).status).toBe(200);
  });

  it("offers a file of plants to import", async () => {
    const { status, headers, bytes } = await get("/sample.csv");
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([200, "text/csv; charset=utf-8", "no-cache"]);
    const csv = { method: "POST", body: bytes, headers: { "content-type": "text/csv" } };
    const dry = await service.request("/plants/import?dryRun=true", csv);
    expect(await dry.json()).toMatchObject({ refused: 0, problems: [] });
  });

  for (const path of ["/", "/sample.csv", "/docs"]) {
    it(`HEAD ${path} is answered like GET, without the body`, async () => {
      const [head, full] = [await get(path, {}, "HEAD"), await get(path)];
      expect([head.status, head.bytes.length, head.headers.get("etag")]).toEqual([200, 0, full.headers.get("etag")]);
      expect(Number(head.headers.get("content-length"))).toBe(full.bytes.length);
    });

    it(`accepts no other method at ${path}, and says so`, async () => {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const { status, headers, bytes } = await get(path, {}, method);
        expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
        expect(JSON.parse(bytes.toString())).toEqual(CATALOGUE.method_not_allowed);
      }
      const { status, headers, bytes } = await get(path, {}, "OPTIONS");
      expect([status, headers.get("allow"), bytes.length]).toEqual([204, "GET, HEAD, OPTIONS", 0]);
    });
  }
});

describe("a file of the page", () => {
  const path = assets.find((one) => one.endsWith(".js"))!;

  // How a header is read is in interface/accept.test.ts.
  for (const [accepted, coding] of [
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["identity", null],
  ] as const) {
    it(`comes ${coding === null ? "plain" : `in ${coding}`} to a client that accepts "${accepted}"`, async () => {
      const { status, headers, bytes } = await get(path, { "accept-encoding": accepted });
      expect([status, headers.get("content-encoding"), headers.get("vary")]).toEqual([200, coding, "Accept-Encoding"]);
      const plain = coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes;
      expect(plain.equals(readFileSync(join(web, path)))).toBe(true);
    });
  }

  for (const unknown of [
    ...partsOf("/assets/|/assets|/assets/nothing.js|/index.html|/index|/docs/|/docs.html|/assets/../index.html.gz|/%2e%2e/package.json"),
    `${path}.br`,
  ]) {
    it(`is not at ${unknown.replace(/-\w+\.js/, "-….js")}`, async () => {
      const { status, bytes } = await get(unknown.replace("..", "%2e%2e"));
      expect(status).toBe(404);
      expect(JSON.parse(bytes.toString())).toEqual(CATALOGUE.unknown_path);
    });
  }
});

describe("a build", () => {
  it("replaces the previous one completely, is the same again for the same content, and is readable by everyone", async () => {
    const folder = join(temporaryFolder(), "deep/web");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "old.html"), "old");
    await Promise.all([buildWeb(folder), buildWeb(folder)]);
    const other = await startTestService({}, { web: folder });
    expect((await fetch(`${other.url}/old`)).status).toBe(404);
    expect(await (await fetch(other.url)).text()).toBe(index.toString());
    await other.stop();
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  it("is reported as missing at the path of the page, and everything else is served", async () => {
    const other = await startTestService({}, { web: join(temporaryFolder(), "none") });
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const response = await fetch(other.url, { method });
      expect([response.status, await response.json()]).toEqual([
        404,
        { error: 40400, message: "The page is not built: run `npm run build:web` and start the service again." },
      ]);
    }
    expect((await fetch(`${other.url}/livez`)).status).toBe(200);
    expect(await (await fetch(`${other.url}/assets/nothing.js`)).json()).toEqual(CATALOGUE.unknown_path);
    await other.stop();
  });
});

describe("/.well-known/security.txt (RFC 9116)", () => {
  it("names a contact over https that is served, and expires in less than a year", async () => {
    const { status, headers, bytes } = await get("/.well-known/security.txt", { host: "plants.example" });
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([200, "text/plain; charset=utf-8", "no-store"]);
    const fields = new Map(Array.from(bytes.toString().matchAll(/^([\w-]+): (\S+)$/gm), ([, name, value]) => [name!, value!]));
    expect(fields.get("Contact")).toBe("https://plants.example/security-policy.txt");
    expect(fields.get("Canonical")).toBe("https://plants.example/.well-known/security.txt");
    expect(fields.get("Preferred-Languages")).toBe("en");
    expect(fields.get("Expires")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const policy = await get("/security-policy.txt");
    expect([policy.status, policy.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(policy.bytes.toString()).toContain("Within 7 days");
  });

  for (const at of ["2026-01-01T00:00:00.000Z", "2027-12-31T23:59:59.999Z", "2028-02-29T12:00:00.000Z"]) {
    it(`read at ${at} is valid for months, and for less than a year`, () => {
      const now = Date.parse(at);
      const text = securityText({ headers: { get: () => null } as unknown as Fields, authority: undefined }, now);
      const [, expires] = /^Expires: (\S+)$/m.exec(Buffer.from(text.forms[0]!.body).toString())!;
      const days = (Date.parse(expires!) - now) / 86_400_000;
      expect([days > 150, days < 365]).toEqual([true, true]);
    });
  }
});

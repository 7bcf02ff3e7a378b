import { BlockList } from "node:net";
import { afterAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { clientAddress, networkOf } from "../../src/http/client-address.ts";
import { createRate } from "../../src/runtime/leaky-bucket.ts";
import { expectConform } from "../support/conform.ts";
import { sendRaw, toRequest } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const PAGE = { method: "get", path: "/plants" };

describe("a rate", () => {
  it("allows its number in any minute and a minute's worth in advance, and says how many may follow and when", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }), (perMinute, pauses) => {
        let time = 0;
        const rate = createRate(perMinute, () => time);
        let allowed = 0;
        let last: { isAllowed: boolean; remaining: number; resetSeconds: number } | undefined;
        for (const pause of pauses) {
          time += pause;
          const next = rate.take("a");
          // It keeps what it said before.
          if (last && last.remaining > 0) expect(next.isAllowed).toBe(true);
          if (last && !last.isAllowed && pause === 0) expect(next.isAllowed).toBe(false);
          if (next.isAllowed) allowed += 1;
          expect(allowed).toBeLessThanOrEqual(perMinute + Math.floor((time * perMinute) / 60_000));
          last = next;
        }
        if (last && !last.isAllowed) {
          time += last.resetSeconds * 1000;
          expect(rate.take("a").isAllowed).toBe(true);
        }
        expect(rate.take("b").isAllowed).toBe(true);
      }),
    );
  });

  it("remembers ten thousand owners, and forgets the one seen least recently", () => {
    const rate = createRate(1, () => 0);
    for (let owner = 0; owner <= 10_000; owner += 1) rate.take(`${owner}`);
    expect(rate.take("10000").isAllowed).toBe(false);
    expect(rate.take("0").isAllowed).toBe(true);
  });
});

describe("an address", () => {
  for (const [address, network] of Object.entries({
    "192.0.2.7": "192.0.2.7",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2",
    "2001:0db8:1:2::9": "2001:db8:1:2",
    "2001:db8::1": "2001:db8:0:0",
    "::1": "0:0:0:0",
    "fe80::1%eth0": "fe80:0:0:0",
  }))
    it(`${address} counts as ${network}`, () => expect(networkOf(address)).toBe(network));
});

describe("the address of a client", () => {
  const trusted = new BlockList();
  trusted.addSubnet("10.0.0.0", 8);
  trusted.addAddress("::1", "ipv6");
  const many = ", 10.0.0.2".repeat(1000);
  for (const [why, peer, forwarded, client] of [
    ["the one that a trusted proxy names", "10.0.0.1", "192.0.2.7", "192.0.2.7"],
    ["the same, written as IPv6", "::ffff:10.0.0.1", "::ffff:192.0.2.7", "192.0.2.7"],
    ["the last one that is not a proxy", "10.0.0.1", "198.51.100.1, 192.0.2.7, 10.0.0.2", "192.0.2.7"],
    ["the peer, if it is not trusted", "192.0.2.9", "198.51.100.1", "192.0.2.9"],
    ["the last one before what is not an address", "10.0.0.1", "198.51.100.1, nonsense, 10.0.0.2", "10.0.0.2"],
    ["the first proxy, if all are proxies", "10.0.0.1", "10.0.0.3", "10.0.0.3"],
    ["IPv6", "::1", "2001:db8::1", "2001:db8::1"],
    ["an address with its port", "10.0.0.1", "192.0.2.7:4711", "192.0.2.7"],
    ["IPv6 with its port", "10.0.0.1", "192.0.2.7, [2001:db8::1]:4711", "2001:db8::1"],
    ["the peer, if the port is not one", "10.0.0.1", "192.0.2.7:x", "10.0.0.1"],
    ["the peer, if the header is empty", "10.0.0.1", "", "10.0.0.1"],
    ["a proxy, if there are too many", "10.0.0.1", `198.51.100.1${many}`, "10.0.0.2"],
  ] as const)
    it(`is read from X-Forwarded-For: ${why}`, () => {
      const headers = { get: (name: string) => (name === "x-forwarded-for" ? forwarded : "for=203.0.113.9") };
      expect(clientAddress({ proxies: trusted, header: "x-forwarded-for" })(peer, headers)).toBe(client);
    });

  for (const [why, forwarded, client] of [
    ["in the parameter for", "for=192.0.2.7;proto=https;by=10.0.0.1", "192.0.2.7"],
    ["in any case and order", 'proto=https; FOR="192.0.2.7:4711" ;host=plants.example', "192.0.2.7"],
    ["IPv6 in brackets with its port", 'for="[2001:db8::1]:4711"', "2001:db8::1"],
    ["an address with a hidden port", 'for="[2001:db8::1]:_a"', "2001:db8::1"],
    ["IPv6 without its quotes", "for=2001:db8::1", "2001:db8::1"],
    ["an address with a backslash in its quotes", 'for="192.0.2.\\7"', "192.0.2.7"],
    ["the last one that is not a proxy", "for=198.51.100.1, for=192.0.2.7, for=10.0.0.2", "192.0.2.7"],
    ["the last one before a hidden one", "for=198.51.100.1, for=_hidden, for=10.0.0.2", "10.0.0.2"],
    ["the peer, if the proxy does not know it", "for=198.51.100.1, for=unknown", "10.0.0.1"],
    ["the peer, if the proxy does not name it", "for=198.51.100.1, proto=https", "10.0.0.1"],
    ["the peer, if the last element is empty", "for=198.51.100.1,", "10.0.0.1"],
    ["the peer, if it is named twice", "for=198.51.100.1;for=192.0.2.7", "10.0.0.1"],
    ["the peer, if the element is not one", "for=198.51.100.1 for=192.0.2.7", "10.0.0.1"],
    ["not swallowed by a quote that stays open", 'for="198.51.100.1, for=192.0.2.7', "192.0.2.7"],
    ["not swallowed by a quote behind a backslash", 'for="\\, for="[2001:db8::7]"', "2001:db8::7"],
    ["not in the quotes of another parameter", 'for=192.0.2.7;host="a, for=198.51.100.1;b=\\"c"', "192.0.2.7"],
    ["a proxy, if there are too many", `for=198.51.100.1${", for=10.0.0.2".repeat(1000)}`, "10.0.0.2"],
  ] as const)
    it(`is read from Forwarded: ${why}`, () => {
      const headers = { get: (name: string) => (name === "forwarded" ? forwarded : "203.0.113.9") };
      expect(clientAddress({ proxies: trusted, header: "forwarded" })("10.0.0.1", headers)).toBe(client);
    });
});

async function page({ request }: TestService, headers: Record<string, string> = {}): Promise<Response> {
  const response = await request("/plants", { headers });
  await expectConform(PAGE, response);
  return response;
}

/** The lines of the log about limits that were hit. */
function hitsOf({ logged }: TestService): ReadonlyArray<Readonly<Record<string, unknown>>> {
  return logged.filter((line) => line.includes("limit_hit")).map((line) => JSON.parse(line) as Record<string, unknown>);
}

function fieldsOf({ status, headers }: Response): unknown[] {
  return [status, headers.get("ratelimit-policy"), headers.get("ratelimit"), headers.get("retry-after")];
}

/** These seconds, less what has gone by since the first request, on a busy machine more than one. */
function expectWait(seconds: string, ofAll: number, began: number): void {
  const passed = Math.ceil((performance.now() - began) / 1000);
  expect(Number(seconds)).toBeLessThanOrEqual(ofAll);
  expect(Number(seconds)).toBeGreaterThan(ofAll - passed);
}

describe("a limit of requests", () => {
  const services: TestService[] = [];
  afterAll(async () => {
    for (const service of services) await service.stop();
  });
  async function start(flags: Record<string, string>): Promise<TestService> {
    const service = await startTestService(flags);
    services.push(service);
    return service;
  }

  it("is in every response, for the token and for the address, and past it the response is 429 until Retry-After", async () => {
    const service = await start({ tokenRequestsPerMinute: "3", addressRequestsPerMinute: "100" });
    const policy = '"token";q=3;w=60, "address";q=100;w=60';
    const began = performance.now();
    expect(fieldsOf(await page(service))).toEqual([200, policy, '"token";r=2;t=20, "address";r=99;t=1', null]);
    const missing = await service.request("/plants/77");
    expect(missing.status).toBe(404);
    expect(missing.headers.get("ratelimit")).toStartWith('"token";r=1;');
    await page(service);
    const over = await page(service);
    expect(fieldsOf(over).slice(0, 2)).toEqual([429, policy]);
    const wait = over.headers.get("retry-after")!;
    expectWait(wait, 20, began);
    expect(over.headers.get("ratelimit")).toStartWith(`"token";r=0;t=${wait},`);
    // What needs no token does not count and is not refused.
    for (const path of ["/livez", "/readyz", "/openapi.json", "/"]) {
      const free = await fetch(`${service.url}${path}`);
      expect([free.status === 429, free.headers.get("ratelimit")]).toEqual([false, null]);
    }
    await page(service);
    expect(hitsOf(service)).toMatchObject([{ kind: "token", principal: "first", address: "127.0.0.1" }]);
  });

  it("counts forbidden requests of a token too, and logs each of a hundred owners, and the others together, in lines that add up", async () => {
    const service = await startTestService({ tokenRequestsPerMinute: "2", refusedRequestsPerMinute: "1", trustedProxies: "127.0.0.0/8" });
    const make = async (scope: string) => {
      const made = await service.request("/tokens", { method: "POST", body: JSON.stringify({ name: scope, scopes: [scope] }) });
      return (await made.json()) as { id: string; token: string };
    };
    const began = performance.now();
    const [reader, writer] = [await make("plants:read"), await make("plants:write")];
    // A patch is refused only once it was let in: that is one request too.
    for (const [{ token }, method, path, body] of [
      [reader, "POST", "/plants", '{"id":1,"name":"x"}'],
      [writer, "PATCH", "/plants/1", "{}"],
    ] as const) {
      const statuses: number[] = [];
      const headers = { authorization: `Bearer ${token}` };
      for (let sent = 0; sent < 5; sent += 1) statuses.push((await service.request(path, { method, body, headers })).status);
      expect(statuses).toEqual([403, 403, 429, 429, 429]);
    }

    for (let at = 0; at < 240; at += 1)
      await service.request("/plants", { headers: { authorization: "Bearer plant_wrong", "x-forwarded-for": `192.0.2.${at >> 1}` } });
    await service.stop();
    const lines = hitsOf(service);
    const sumOf = (kind: string) => lines.reduce((sum, line) => sum + (line["kind"] === kind ? Number(line["requests"]) : 0), 0);
    expect([sumOf("token"), sumOf("refused")]).toEqual([6, 120]);
    expect(new Set(lines.filter(({ kind }) => kind === "token").map(({ principal }) => principal))).toEqual(
      new Set([reader.id, writer.id]),
    );
    const seconds = (performance.now() - began) / 1000;
    expect(lines.length).toBeLessThanOrEqual(106 * Math.ceil(seconds / 10));
  });

  it("logs the requests that simultaneous files turn away, in lines that add up", async () => {
    const service = await startTestService();
    const stop = new AbortController();
    const never = () =>
      service.request("/plants/import", {
        method: "POST",
        signal: stop.signal,
        body: new ReadableStream({ pull: () => new Promise(() => {}), start: (to) => to.enqueue(new TextEncoder().encode("\n")) }),
      });
    const running = Array.from({ length: 4 }, () => never().catch(() => undefined));
    const another = async () => (await service.request("/plants/import", { method: "POST", body: "{}" })).status;
    await until("All four run", async () => (await another()) === 503);
    expect([await another(), await another()]).toEqual([503, 503]);
    stop.abort();
    await Promise.all(running);
    await service.stop();
    expect(hitsOf(service)).toMatchObject([1, 2].map((requests) => ({ kind: "overload", principal: "first", requests })));
  });

  it("turns 401 into 429 after too many refused requests, and never keeps out a valid token from the same address", async () => {
    const service = await start({ refusedRequestsPerMinute: "2" });
    const wrong = { authorization: "Bearer plant_wrong" };
    const began = performance.now();
    expect(fieldsOf(await page(service, wrong))).toEqual([401, null, null, null]);
    await page(service, wrong);
    const over = await page(service, wrong);
    const wait = over.headers.get("retry-after")!;
    expectWait(wait, 30, began);
    expect(fieldsOf(over)).toEqual([429, '"refused";q=2;w=60', `"refused";r=0;t=${wait}`, wait]);
    expect(over.headers.get("www-authenticate")).toBeNull();
    expect(fieldsOf(await page(service))).toEqual([200, null, null, null]);
  });

  it("believes only the header that the trusted proxies write: a client may have written the other one", async () => {
    const limits = { refusedRequestsPerMinute: "1", trustedProxies: "127.0.0.0/8" };
    for (const [written, other] of [
      ["x-forwarded-for", "forwarded"],
      ["forwarded", "x-forwarded-for"],
    ] as const) {
      const service = await start({ ...limits, trustedHeader: written });
      const client = { "x-forwarded-for": "192.0.2.1", forwarded: "for=192.0.2.1" };
      const disguise = { "x-forwarded-for": "198.51.100.1", forwarded: "for=198.51.100.1" };
      const fresh = { "x-forwarded-for": "203.0.113.1", forwarded: "for=203.0.113.1" };
      const wrong = { authorization: "Bearer plant_wrong" };
      expect((await page(service, { ...wrong, [written]: client[written] })).status).toBe(401);
      expect((await page(service, { ...wrong, [written]: client[written], [other]: disguise[other] })).status).toBe(429);
      // Without the header of the proxy, the other one is not believed either: both requests are the proxy's.
      expect((await page(service, { ...wrong, [other]: disguise[other] })).status).toBe(401);
      expect((await page(service, { ...wrong, [other]: fresh[other] })).status).toBe(429);
      // Several lines are one list.
      const fields = [...[disguise, client].map((one) => `${written}: ${one[written]}`), "Connection: close"];
      const { text } = await sendRaw(service.url, [toRequest("GET /plants", { token: "plant_wrong", fields })]);
      expect(text).toStartWith("HTTP/1.1 429 ");
    }
  });

  it("counts each client behind a trusted proxy by itself, and believes no other forwarded address", async () => {
    const wrong = (address: string) => ({ authorization: "Bearer plant_wrong", "x-forwarded-for": address });
    const behind = await start({ refusedRequestsPerMinute: "1", trustedProxies: "127.0.0.0/8" });
    const direct = await start({ refusedRequestsPerMinute: "1" });
    const statuses = async (service: TestService) => {
      const all = [];
      for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.1"]) all.push((await page(service, wrong(address))).status);
      return all;
    };
    expect(await statuses(behind)).toEqual([401, 401, 429]);
    expect(await statuses(direct)).toEqual([401, 429, 429]);
  });

  it("counts the addresses of one IPv6 network together, with and without a valid token", async () => {
    const service = await start({ addressRequestsPerMinute: "2", refusedRequestsPerMinute: "2", trustedProxies: "127.0.0.0/8" });
    const addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"];
    for (const { sent, status } of [
      { sent: {}, status: 200 },
      { sent: { authorization: "Bearer plant_wrong" }, status: 401 },
    ]) {
      const statuses: number[] = [];
      for (const address of addresses) statuses.push((await page(service, { ...sent, "x-forwarded-for": address })).status);
      expect(statuses).toEqual([status, status, 429, status]);
    }
    expect(hitsOf(service)).toMatchObject(["address", "refused"].map((kind) => ({ kind, address: "2001:db8::3" })));
  });
});

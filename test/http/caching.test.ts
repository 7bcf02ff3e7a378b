import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { OPERATIONS } from "../../contract/generated/operations.ts";
import { pathOf } from "../support/samples.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.post('{"id":1,"name":"Acer"}');
});
afterAll(() => service.stop());

async function cacheControlOf(path: string): Promise<string | null> {
  return (await service.request(path)).headers.get("cache-control");
}

describe("a cache that all clients share", () => {
  it("keeps neither what says how the service is nor that there is nothing at a path", async () => {
    const paths = ["/livez", "/readyz", "/nothing", "/assets/of-another-version.js"];
    expect(await Promise.all(paths.map(cacheControlOf))).toEqual(paths.map(() => "no-store"));
  });

  it("keeps no plants, tags or counts of one token", async () => {
    const paths = ["/plants", "/plants?q=aloe", "/plants/1", "/tags", "/plants/count"];
    expect(await Promise.all(paths.map(cacheControlOf))).toEqual(paths.map(() => "private, no-cache"));
  });

  it("may keep no response to a read that needs a token", async () => {
    const reads = OPERATIONS.filter(({ method, scope }) => method === "GET" && scope !== undefined);
    expect(reads.length).toBeGreaterThan(6);
    for (const operation of reads) {
      const response = await service.request(pathOf(operation, { token: "1" }));
      expect([operation.path, response.status]).toEqual([operation.path, 200]);
      expect(response.headers.get("cache-control")).toMatch(/^(private, no-cache|no-store)$/);
    }
  });

  it("keeps no error, such as that a plant is not there or that a token is missing", async () => {
    const missing = await service.request("/plants/2");
    const others = [service.request("/plants", { method: "PUT" }), service.request("/plants?nothing=1"), fetch(`${service.url}/plants/1`)];
    const errors = [missing, ...(await Promise.all(others))];
    expect(errors.map(({ status, headers }) => [status, headers.get("cache-control")])).toEqual(
      [404, 405, 400, 401].map((status) => [status, "no-store"]),
    );
    await service.post('{"id":2,"name":"Betula"}');
    const [read, unchanged] = [
      await service.request("/plants/2"),
      await service.request("/plants/2", { headers: { "if-none-match": "*" } }),
    ];
    expect([read.status, unchanged.status, unchanged.headers.get("cache-control")]).toEqual([200, 304, "private, no-cache"]);
  });
});

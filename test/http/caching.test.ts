import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
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
    const paths = ["/plants", "/plants?q=aloe", "/tags", "/plants/count"];
    expect(await Promise.all(paths.map(cacheControlOf))).toEqual(paths.map(() => "private, no-cache"));
  });
});

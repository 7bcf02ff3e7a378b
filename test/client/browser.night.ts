import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Browser, Page } from "playwright-core";
import type * as client from "../../src/client/client.ts";
import { startBrowser } from "../support/browser.ts";
import { EXPECTED } from "../support/client/journal.ts";
import type { travel } from "../support/client/journey.ts";
import { installClient } from "../support/client/package.ts";
import { buildPage } from "../support/client/vite-page.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

/** In a page that Vite built: the client as published, and the journey. */
declare const built: { client: typeof client; travel: typeof travel };

let folder: string;
beforeAll(() => {
  folder = buildPage(installClient());
});

/** A server of the built page; what it answers otherwise comes first. */
function serve(answer: (path: string) => Response | Promise<Response> | undefined = () => undefined): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      return answer(pathname) ?? new Response(Bun.file(join(folder, pathname === "/" ? "index.html" : pathname)));
    },
  });
}

async function open({ url }: Bun.Server<undefined>): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url.href);
  await page.waitForFunction(() => "built" in globalThis);
  return page;
}

// In a browser a redirect has no status and no headers, and a request body cannot be a stream.
describe("in Chromium, the client", () => {
  /** It redirects reads and never answers imports. */
  const server = serve((path) => {
    if (path === "/plants/import") return new Promise<never>(() => {});
    return path.startsWith("/plants/") ? Response.redirect("https://plants.example/", 307) : undefined;
  });
  afterAll(() => server.stop(true));

  it("does not follow a redirect", async () => {
    const page = await open(server);
    const thrown = await page.evaluate((url) => {
      const plants = built.client.createClient({ url, token: "t" });
      return plants.find(1n).catch((reason: client.UnexpectedAnswerError) => [reason.name, reason.status, reason.message]);
    }, server.url.href);
    expect(thrown).toEqual(["UnexpectedAnswerError", 0, "The url redirects: use the address it leads to."]);
  });

  it("gives up an import whose source stalls, and releases the source", async () => {
    const page = await open(server);
    const thrown = await page.evaluate(async (url) => {
      const plants = built.client.createClient({ url, token: "t", idleMs: 200 });
      const released = Promise.withResolvers<void>();
      const source = new ReadableStream<string>({ cancel: () => released.resolve() });
      const reason = await plants.importPlants(source).catch((failure: client.TimeoutError) => [failure.name, failure.limitMs]);
      await released.promise;
      return reason;
    }, server.url.href);
    expect(thrown).toEqual(["TimeoutError", 200]);
  });
});

describe("in a page that Vite built, on another origin, the client", () => {
  // Two servers of the same page: the service allows the first.
  const [garden, stranger] = [serve(), serve()];
  afterAll(() => Promise.all([garden.stop(true), stranger.stop(true)]));

  function startAllowing(flags: Record<string, string> = {}): Promise<TestService> {
    return startTestService({ origins: garden.url.origin, ...flags });
  }

  it("does the same, each error included, once the service allows the origin", async () => {
    const service = await startAllowing();
    const page = await open(garden);
    const journal = await page.evaluate(({ url, token }) => built.travel({ client: built.client, url, token }), {
      url: service.url,
      token: service.token,
    });
    expect(journal).toEqual(EXPECTED);
    await service.stop();
  });

  it("learns how long it has to wait", async () => {
    const service = await startAllowing({ tokenRequestsPerMinute: "1" });
    const page = await open(garden);
    const waits = await page.evaluate(
      async ({ url, token }) => {
        const plants = built.client.createClient({ url, token, retries: 0 });
        await plants.find(1n);
        return plants.find(1n).catch((thrown: client.ServiceError) => [thrown.error, (thrown.retryAfterMs ?? 0) > 0]);
      },
      { url: service.url, token: service.token },
    );
    expect(waits).toEqual([42900, true]);
    await service.stop();
  });

  async function createAndFind(page: Page, { url, token }: Pick<TestService, "token" | "url">): Promise<unknown[]> {
    return page.evaluate(
      async (service) => {
        const plants = built.client.createClient({ ...service, retries: 0 });
        const created = plants.create({ id: 1n, name: "Ficus" });
        return [await created.then(({ plant }) => plant.name, String), await plants.find(2n).catch(String)];
      },
      { url, token },
    );
  }

  it("can do nothing on an origin that is not allowed, not even store a plant without reading the response", async () => {
    const service = await startAllowing();
    const failure = (request: string) => expect.stringContaining(`ConnectionError: ${request} could not connect`) as unknown;
    expect(await createAndFind(await open(stranger), service)).toEqual([failure("POST /plants"), failure("GET /plants/2")]);
    expect((await service.request("/plants/1")).status).toBe(404);
    await service.stop();
  });
});

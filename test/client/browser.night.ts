import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Browser, Page } from "playwright-core";
import type * as client from "../../src/client/client.ts";
import { startBrowser } from "../support/browser.ts";
import { EXPECTED } from "../support/client/journal.ts";
import type { travel } from "../support/client/journey.ts";
import { installClient, readModule } from "../support/client/package.ts";
import { buildPage } from "../support/client/vite-page.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

/** In the page: a client of the server that the page came from. */
declare function connect(options?: Partial<client.ClientOptions>): client.Client;

/** A service that redirects reads and never answers imports, and serves an empty page. */
const server = Bun.serve({
  port: 0,
  fetch({ url }) {
    const { pathname } = new URL(url);
    if (pathname === "/") return new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
    return pathname === "/plants/import" ? new Promise<never>(() => {}) : Response.redirect("https://plants.example/", 307);
  },
});
afterAll(() => server.stop(true));

// In a browser a redirect has no status and no headers, a request body cannot be a stream, and upload progress is
// unknown.
describe("in Chromium, the client", () => {
  let page: Page;
  beforeAll(async () => {
    page = await browser.newPage();
    await page.goto(server.url.href);
    await page.evaluate(
      async (built) => {
        const { createClient } = (await import(URL.createObjectURL(new Blob([built.text], { type: "text/javascript" })))) as typeof client;
        const connectHere = (options: Partial<client.ClientOptions> = {}) => createClient({ url: built.url, token: "t", ...options });
        Object.assign(globalThis, { connect: connectHere });
      },
      { text: readModule(installClient()), url: server.url.href },
    );
  });

  it("does not follow a redirect", async () => {
    const thrown = await page.evaluate(() => {
      const plants = connect();
      return plants.find(1n).catch((reason: client.UnexpectedAnswerError) => [reason.name, reason.status, reason.message]);
    });
    expect(thrown).toEqual(["UnexpectedAnswerError", 0, "The url redirects: use the address it leads to."]);
  });

  it("gives up an import whose source stalls, and releases the source", async () => {
    const thrown = await page.evaluate(async () => {
      const plants = connect({ idleMs: 200 });
      const released = Promise.withResolvers<void>();
      const source = new ReadableStream<string>({ cancel: () => released.resolve() });
      const reason = await plants.importPlants(source).catch((failure: client.TimeoutError) => [failure.name, failure.limitMs]);
      await released.promise;
      return reason;
    });
    expect(thrown).toEqual(["TimeoutError", 200]);
  });
});

/** In a page that Vite built: the client as published, and the journey. */
declare const built: { client: typeof client; travel: typeof travel };

describe("in a page that Vite built, on another origin, the client", () => {
  let folder: string;
  /** Two servers of the same page: the service allows the first. */
  let garden: Bun.Server<undefined>;
  let stranger: Bun.Server<undefined>;
  beforeAll(() => {
    folder = buildPage(installClient());
    [garden, stranger] = [serve(), serve()];
  });
  afterAll(() => Promise.all([garden.stop(true), stranger.stop(true)]));

  function serve(): Bun.Server<undefined> {
    return Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch({ url }) {
        const { pathname } = new URL(url);
        return new Response(Bun.file(join(folder, pathname === "/" ? "index.html" : pathname)));
      },
    });
  }

  async function open({ url }: Bun.Server<undefined>): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(url.href);
    await page.waitForFunction(() => "built" in globalThis);
    return page;
  }

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

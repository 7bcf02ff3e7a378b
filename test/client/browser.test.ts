import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Browser, Page } from "playwright-core";
import type * as client from "../../src/client/client.ts";
import { startBrowser } from "../support/browser.ts";
import { installClient, readModule } from "../support/client/package.ts";

/** The page in the browser, and a service that redirects reads and never answers imports. */
const server = Bun.serve({
  port: 0,
  fetch({ url }) {
    const { pathname } = new URL(url);
    if (pathname === "/") return new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
    return pathname === "/plants/import" ? new Promise<never>(() => {}) : Response.redirect("https://plants.example/", 307);
  },
});

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await startBrowser();
  page = await browser.newPage();
  await page.goto(server.url.href);
  const text = readModule(installClient());
  await page.evaluate(
    async (built) => {
      const { createClient } = (await import(URL.createObjectURL(new Blob([built.text], { type: "text/javascript" })))) as typeof client;
      function connectHere(options: Partial<client.ClientOptions> = {}): client.Client {
        return createClient({ url: built.url, token: "t", ...options });
      }
      Object.assign(globalThis, { connect: connectHere });
    },
    { text, url: server.url.href },
  );
});
afterAll(async () => {
  await browser.close();
  await server.stop(true);
});

/** In the page: a client of the server that the page came from. */
declare function connect(options?: Partial<client.ClientOptions>): client.Client;

// In a browser a redirect has no status and no headers, a request body cannot be a stream, and upload progress is
// unknown.
describe("in Chromium, the client", () => {
  it("does not follow a redirect", async () => {
    const thrown = await page.evaluate(() => {
      const plants = connect();
      return plants.find(1n).catch((reason: client.UnexpectedAnswerError) => [reason.name, reason.status, reason.message]);
    });
    expect(thrown).toEqual(["UnexpectedAnswerError", 0, "The url redirects: use the address it leads to."]);
  });

  it("throws what the source of an import throws", async () => {
    const thrown = await page.evaluate(() => {
      const plants = connect();
      async function* source() {
        yield "{";
        throw new Error("no more");
      }
      return plants.importPlants(source()).catch(String);
    });
    expect(thrown).toBe("Error: no more");
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

  it("gives up an import that gets no response in the time that its size allows", async () => {
    const thrown = await page.evaluate(async () => {
      const plants = connect({ idleMs: 200 });
      const progress: client.ImportProgress[] = [];
      const source = new Blob([new Uint8Array(10_000)]);
      const reason = await plants
        .importPlants(source, { onProgress: (step) => progress.push(step) })
        .catch((failure: client.TimeoutError) => failure);
      return [(reason as client.TimeoutError).name, (reason as client.TimeoutError).limitMs, progress];
    });
    expect(thrown).toEqual(["TimeoutError", 400, [{ bytes: 10_000, bytesTotal: 10_000 }]]);
  });

  it("throws the reason of an abort while it collects the source", async () => {
    const thrown = await page.evaluate(() => {
      const plants = connect();
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error("enough")), 100);
      return plants.importPlants(new ReadableStream<string>(), { signal: controller.signal }).catch(String);
    });
    expect(thrown).toBe("Error: enough");
  });
});

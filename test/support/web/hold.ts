import type { Page, Request } from "playwright-core";
import { until } from "../until.ts";

/** A request of a page that is on its way for as long as a test wants. */
export type Held = Readonly<{
  /** Resolves when the page has sent it; where its answer is held, when the service has answered it. Rejects if it never does. */
  came: Promise<void>;
  /** Lets it go on. */
  release: () => void;
}>;

/** Holds the next request that is meant: on its way to the service, or its answer on the way back. */
export async function hold(page: Page, isMeant: (request: Request) => boolean, where: "answer" | "request" = "request"): Promise<Held> {
  let hasCome = false;
  const gone = Promise.withResolvers<void>();
  let isTaken = false;
  await page.route("**/*", async (route) => {
    if (isTaken || !isMeant(route.request())) return route.fallback();
    isTaken = true;
    const response = where === "answer" ? await route.fetch() : undefined;
    hasCome = true;
    await gone.promise;
    // The page may want it no more.
    await (response ? route.fulfill({ response }) : route.fallback()).catch(() => undefined);
  });
  // Chromium says that it intercepts before its page does: without a round trip, a key pressed now could send past it.
  await page.evaluate("0");
  return {
    get came() {
      return until("the page has sent what is held", () => hasCome);
    },
    release: gone.resolve,
  };
}

/** Whether a request asks this of a path, which may have a query. */
export function asks(method: string, path: RegExp): (request: Request) => boolean {
  return (request) => request.method() === method && path.test(new URL(request.url()).pathname + new URL(request.url()).search);
}

import { expect, it } from "bun:test";
import * as client from "../../src/client/client.ts";
import { EXPECTED } from "../support/client/journal.ts";
import { travel } from "../support/client/journey.ts";
import { startTestService } from "../support/service.ts";

// In Node and in Chromium, as published: published.night.ts and browser.night.ts.
it("every call of the client does what it promises against a service", async () => {
  const service = await startTestService();
  expect(await travel({ client, url: service.url, token: service.token })).toEqual(EXPECTED);
  await service.stop();
});

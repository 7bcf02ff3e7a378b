import { beforeAll, describe, expect, it } from "bun:test";
import * as client from "../../src/client/client.ts";
import { fileTroubles } from "../support/client/trouble.files.ts";
import { requestTroubles } from "../support/client/trouble.requests.ts";
import { suffer } from "../support/client/trouble.ts";
import type { Sufferings } from "../support/client/trouble.ts";

// In Node: published.night.ts.
describe("the client meets", () => {
  let sufferings: Sufferings = {};
  beforeAll(async () => {
    sufferings = { ...(await suffer(client, requestTroubles)), ...(await suffer(client, fileTroubles)) };
  });
  for (const [name, [, , outcome, { requests = 1 } = {}]] of Object.entries({ ...requestTroubles, ...fileTroubles }))
    it(name, () => {
      expect(sufferings[name]).toEqual({ outcome, requests: requests === "any" ? expect.any(Number) : requests });
    });
});

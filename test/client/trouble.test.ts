import { beforeAll, describe, expect, it } from "bun:test";
import * as client from "../../src/client/client.ts";
import { changeTroubles } from "../support/client/trouble.changes.ts";
import { fileTroubles } from "../support/client/trouble.files.ts";
import { requestTroubles } from "../support/client/trouble.requests.ts";
import { suffer } from "../support/client/trouble.ts";
import type { Sufferings } from "../support/client/trouble.ts";

// In Node: published.night.ts.
const troubles = { ...requestTroubles, ...fileTroubles, ...changeTroubles };

describe("the client meets", () => {
  let sufferings: Sufferings = {};
  beforeAll(async () => {
    for (const some of [requestTroubles, fileTroubles, changeTroubles]) sufferings = { ...sufferings, ...(await suffer(client, some)) };
  });
  for (const [name, [, , outcome, { requests = 1 } = {}]] of Object.entries(troubles))
    it(name, () => {
      expect(sufferings[name]).toEqual({ outcome, requests: requests === "any" ? expect.any(Number) : requests });
    });
});

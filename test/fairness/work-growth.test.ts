import { afterAll, describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { ALPHABETS, GROWTH_MAX, growthOf, judge } from "../support/growth/growth.ts";
import { openRequests } from "../support/growth/requests.ts";
import { findRepeated, meetingIds, WORKS } from "../support/growth/works.ts";

// The text that is hostile to each. All other texts, and PostgreSQL: growth.night.ts.
const { inputs, stop } = await openRequests(ENGINES[0]!);
afterAll(stop);

describe("doubling the text takes at most three times the work, and at its largest it keeps the loop for 50 ms at most, for", () => {
  for (const input of [...WORKS, ...inputs])
    it(`${input.what} of ${input.bytes} bytes`, async () => {
      const alphabets = ALPHABETS.filter(({ alphabet }) => alphabet === (input.meant ?? "a letter"));
      expect((await judge(input, alphabets)).faults).toEqual([]);
    });

  it("ids of rows that were made to meet in a table", async () => {
    const growth = await growthOf(findRepeated, { alphabet: "ids", textOf: meetingIds }, 200_000);
    expect(growth.times).toBeLessThan(GROWTH_MAX);
  });
});

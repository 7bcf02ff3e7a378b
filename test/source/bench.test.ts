import { describe, expect, it } from "bun:test";
import { NAME_THREADS, WITHOUT } from "../../bench/leave-one-out.ts";
import { toScript } from "../../bench/pgbench.ts";
import { countInFlight, ONE_BY_ONE } from "../../bench/postgres.ts";
import { plantBugs } from "../support/plant-bugs.ts";

describe("the source still has what the bench edits", () => {
  for (const [step, edits] of Object.entries({
    ...WITHOUT,
    "nothing, with threads named": [NAME_THREADS],
    "the group commit of PostgreSQL": ONE_BY_ONE,
  })) {
    it(`to leave out ${step}`, () => {
      expect(plantBugs(edits)).toBeString();
    });
  }
});

it("the bench knows how many commits of creates run at a time on PostgreSQL", () => {
  expect(countInFlight()).toBePositive();
});

it("the bench gives pgbench each parameter of the statement that creates plants", () => {
  expect(toScript({ plants: 2, clients: 1, start: 7 })).toMatch(/:names\b.+:tags\b.+:words\b.+:keys\b/s);
});

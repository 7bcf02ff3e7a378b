import { describe, expect, it } from "bun:test";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { judge } from "../support/growth/growth.ts";
import type { Input } from "../support/growth/growth.ts";
import { threadMs } from "../support/processor.ts";

const BYTES = 4000;
const isMeant = (text: string) => text.startsWith("aa");

/** Keeps the loop for so long. */
function spend(ms: number): void {
  const end = threadMs() + ms;
  while (threadMs() < end);
}

function refuse(): never {
  throw new PlantStoreError("invalid_body");
}

/** The faults that a measurement of this work finds. */
async function faultsOf(input: Pick<Input, "meant" | "work">): Promise<readonly string[]> {
  return (await judge({ what: "a text", bytes: BYTES, ...input })).faults;
}

describe("a measurement of growth", () => {
  it("finds no fault in work that is linear and accepts what is meant", async () => {
    const work = (text: string) => (isMeant(text) ? spend(text.length / 400) : refuse());
    expect(await faultsOf({ meant: "a letter", work })).toEqual([]);
  });

  for (const { why, work, fault } of [
    {
      why: "grows with the square of the text",
      work: (text: string) => isMeant(text) && spend((text.length / 900) ** 2),
      fault: /^a letter takes [34]\.\d times the work$/,
    },
    {
      why: "refuses what is meant at the largest size",
      work: (text: string) => (text.length < BYTES ? spend(1) : refuse()),
      fault: /^does not accept a letter$/,
    },
    {
      why: "keeps the loop for more than 50 ms at the largest size",
      work: (text: string) => isMeant(text) && spend(text.length / 60),
      fault: /^a letter \(accepted\) keeps the loop for \d/,
    },
    {
      why: "keeps the loop for more than 50 ms only at half of it, and refuses all of it",
      work: (text: string) => (text.startsWith("00") ? (text.length < BYTES ? spend(60) : refuse()) : undefined),
      fault: /^zeros \(invalid_body\) keeps the loop for \d/,
    },
  ])
    it(`faults work that ${why}`, async () => {
      expect(await faultsOf({ meant: "a letter", work })).toContainEqual(expect.stringMatching(fault));
    });

  it("faults work that accepts a text where all are said to be refused", async () => {
    expect(await faultsOf({ meant: undefined, work: (text) => (isMeant(text) ? undefined : refuse()) })).toEqual(["accepts a letter"]);
  });
});

import { describe, expect, it } from "bun:test";
import { cpuSecondsByThread } from "../../bench/cputime.ts";
import { WITHOUT } from "../../bench/leave-one-out.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("the source", () => {
  for (const [step, edits] of Object.entries(WITHOUT)) {
    it(`still has what the bench edits to leave out ${step}`, () => {
      expect(plantBugs(edits)).toBeString();
    });
  }
});

it("the threads of a store show the names by which the bench tells them apart", async () => {
  const service = await startProcess({ data: temporaryFolder() });
  expect(Object.keys(cpuSecondsByThread(service.pid))).toEqual(expect.arrayContaining(["main", "writer", "search"]));
  await service.end("SIGTERM");
});

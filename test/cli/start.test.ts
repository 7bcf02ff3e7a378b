import { describe, expect, it, spyOn } from "bun:test";
import { startTestService } from "../support/service.ts";

describe("a start that fails", () => {
  it("on a port in use leaves no interval behind", async () => {
    const other = await startTestService();
    const made = spyOn(globalThis, "setInterval");
    const cleared = spyOn(globalThis, "clearInterval");
    try {
      const failed = await startTestService({ port: new URL(other.url).port }).catch((reason: unknown) => reason);
      expect(failed).toBeInstanceOf(Error);
      const ended = new Set<unknown>(cleared.mock.calls.map(([timer]) => timer));
      expect(made.mock.results.map(({ value }) => value).filter((timer) => !ended.has(timer))).toEqual([]);
    } finally {
      made.mockRestore();
      cleared.mockRestore();
      await other.stop();
    }
  });
});

import { describe, expect, it } from "bun:test";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { withAccessCheck, withIdleTimeout } from "../../src/http/upload.ts";

const LIMITS = { idleMs: 400, graceMs: 100, bytesPerSecondMin: 1000 };

/** `count` chunks of a size, with a pause before each; then nothing, forever or as the end. */
async function* send({ chunks, size, pauseMs, isEnding = true }: { chunks: number; size: number; pauseMs: number; isEnding?: boolean }) {
  for (let sent = 0; sent < chunks; sent += 1) {
    if (pauseMs > 0) await Bun.sleep(pauseMs);
    yield new Uint8Array(size);
  }
  if (!isEnding) await new Promise(() => {});
}

/** What got through, and how it ended. */
async function read(bytes: AsyncIterable<Uint8Array>, { pauseMs = 0, limits = LIMITS } = {}): Promise<{ size: number; end: string }> {
  let size = 0;
  try {
    for await (const chunk of withIdleTimeout(bytes, limits)) {
      size += chunk.length;
      if (pauseMs > 0) await Bun.sleep(pauseMs);
    }
    return { size, end: "whole" };
  } catch (thrown) {
    return { size, end: (thrown as PlantStoreError).code };
  }
}

describe("a slow body", () => {
  it("is refused as too slow after the grace period however it drips, and what came before is passed on", async () => {
    const drips = await Promise.all([4, 10, 20, 30, 45, 70].map((pauseMs) => read(send({ chunks: 1000 / pauseMs, size: 1, pauseMs }))));
    for (const { size, end } of drips) {
      expect(end).toBe("too_slow");
      expect(size).toBeGreaterThan(0);
      expect(size).toBeLessThan(50);
    }
  });

  it("is read to its end if it is fast enough, however long that takes", async () => {
    // A stall of the machine that is shorter than a second counts as one of the sender.
    const limits = { ...LIMITS, idleMs: 2000, graceMs: 1200 };
    expect(await read(send({ chunks: 75, size: 200, pauseMs: 20 }), { limits })).toEqual({ size: 15_000, end: "whole" });
  });

  it("may pause once it has sent enough, but only for as long as a stall may last", async () => {
    expect(await read(send({ chunks: 1, size: 100_000, pauseMs: 0, isEnding: false }))).toEqual({ size: 100_000, end: "incomplete_body" });
  });

  it("is not charged for the time that it waits for its reader", async () => {
    expect(await read(send({ chunks: 10, size: 1, pauseMs: 0 }), { pauseMs: 30 })).toEqual({ size: 10, end: "whole" });
  });
});

it("whether bytes may arrive is asked while they do, and no more once they have ended", async () => {
  let asked = 0;
  async function ask() {
    asked += 1;
  }
  for await (const _ of withAccessCheck(send({ chunks: 2, size: 1, pauseMs: 400 }), ask));
  expect(asked).toBeGreaterThan(0);
  const before = asked;
  await Bun.sleep(600);
  expect(asked).toBe(before);
});

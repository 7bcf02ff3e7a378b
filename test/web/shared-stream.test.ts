// Who follows the changes, and who hears of them, by the state module of the page alone.
import { afterEach, beforeEach, describe, expect, it } from "bun:test";
import { ServiceError } from "../../src/client/client.ts";
import type { CallOptions, ChangesQuery, FollowedChange } from "../../src/client/client.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { until } from "../support/until.ts";
import { modules, plantOf } from "../support/web/page-state.ts";

/** The locks of a browser, as far as they are needed: one holds a name, the others wait. */
function createLocks() {
  const tails = new Map<string, Promise<unknown>>();
  return {
    async request(name: string, { signal }: Readonly<{ signal: AbortSignal }>, hold: () => Promise<void>): Promise<void> {
      const before = tails.get(name) ?? Promise.resolve();
      const aborted = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      aborted.catch(() => undefined);
      const mine = Promise.race([before, aborted]).then(hold);
      tails.set(
        name,
        mine.catch(() => before),
      );
      await mine;
    },
  };
}

let ends: AbortController[] = [];
beforeEach(() => Object.assign(navigator, { locks: createLocks() }));
afterEach(() => {
  for (const end of ends) end.abort();
  ends = [];
  delete (navigator as { locks?: unknown }).locks;
});

/** A service: each stream begins with a bookmark, and then has what is told. */
function createService(fail: (streams: number) => ServiceError | undefined = () => undefined) {
  const asked: (string | undefined)[] = [];
  let open = 0;
  const waiting = new Set<(entry: FollowedChange) => void>();
  async function* changes({ after, signal }: CallOptions & ChangesQuery = {}): AsyncGenerator<FollowedChange, void> {
    asked.push(after);
    const refused = fail(asked.length);
    if (refused) throw refused;
    const queue: FollowedChange[] = [{ cursor: after === "now" ? "c0" : after! }];
    let wake = Promise.withResolvers<void>();
    const put = (entry: FollowedChange) => {
      queue.push(entry);
      wake.resolve();
    };
    waiting.add(put);
    signal?.addEventListener("abort", () => wake.resolve());
    open += 1;
    try {
      while (signal?.aborted !== true) {
        for (const entry of queue.splice(0)) yield entry;
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
      throw signal.reason as Error;
    } finally {
      open -= 1;
      waiting.delete(put);
    }
  }
  return {
    client: { changes },
    asked,
    open: () => open,
    tell(id: number, cursor: string): void {
      for (const put of waiting) put({ change: { id: BigInt(id), change: "created", at: "", plant: plantOf(id, "Acer") }, cursor });
    },
  };
}

/** A tab in sight. */
function openTab(service: ReturnType<typeof createService>, token = "plant_a") {
  const heard: bigint[] = [];
  let gaps = 0;
  const stream = new modules.SharedStream({
    client: service.client,
    base: "http://plants.example",
    token,
    onHeard: ({ changes }) => heard.push(...changes.map(({ id }) => id)),
    onGap: () => (gaps += 1),
  });
  let inSight: AbortController;
  function show(): void {
    inSight = new AbortController();
    ends.push(inSight);
    void stream.run(inSight.signal);
  }
  show();
  return { stream, heard, gaps: () => gaps, show, hide: () => inSight.abort() };
}

function failure(status: number): ServiceError {
  return new ServiceError({ status, error: 0, message: "", requestId: undefined, retryAfterMs: undefined, isRepeatable: false });
}

describe("of several tabs in sight", () => {
  it("one follows the changes, all hear of them, and another one goes on where that one stops", async () => {
    const service = createService();
    const first = openTab(service);
    await until("it follows", () => first.stream.isLive);
    const second = openTab(service);
    await until("the other one hears", () => second.stream.isLive);
    service.tell(1, "c1");
    await until("both have it", () => first.heard.length + second.heard.length === 2);
    first.hide();
    await until("the other one follows", () => service.asked.length === 2);
    service.tell(2, "c2");
    await until("it has it", () => second.heard.length === 2);
    expect([first.heard, second.heard, service.asked, service.open()]).toEqual([[1n], [1n, 2n], ["now", "c1"], 1]);
    // Each may have missed something before it heard the first, and nothing after that.
    expect([first.gaps(), second.gaps()]).toEqual([1, 1]);
  });

  it("none tells another one that has another token", async () => {
    const service = createService();
    const [mine, other] = [openTab(service), openTab(service, "plant_b")];
    await until("both follow", () => service.open() === 2);
    service.tell(1, "c1");
    await until("both have it", () => mine.heard.length > 0 && other.heard.length > 0);
    await sleepPatiently(200);
    expect([mine.heard, other.heard]).toEqual([[1n], [1n]]);
  });

  it("none follows while it is out of sight, and it goes on where it stopped", async () => {
    const service = createService();
    const tab = openTab(service);
    await until("it follows", () => tab.stream.isLive);
    service.tell(1, "c1");
    await until("it has it", () => tab.heard.length === 1);
    tab.hide();
    await until("it ends", () => service.open() === 0);
    tab.show();
    await until("it follows again", () => service.asked.length === 2);
    expect([service.asked, tab.gaps()]).toEqual([["now", "c1"], 1]);
  });
});

describe("a tab", () => {
  for (const [what, status] of [
    ["what came behind its cursor is not kept any more", 410],
    ["the service does not know its cursor, as one of another version", 400],
  ] as const)
    it(`begins again where ${what}`, async () => {
      const service = createService((streams) => (streams === 2 ? failure(status) : undefined));
      const tab = openTab(service);
      await until("it follows", () => tab.stream.isLive);
      tab.hide();
      tab.show();
      // Which tells all others.
      const other = openTab(service);
      await until("it begins again", () => tab.gaps() === 2 && other.gaps() > 0);
      expect(service.asked).toEqual(["now", "c0", "now"]);
    });

  for (const [what, status] of [
    ["keeps no changes", 501],
    ["does not understand it", 400],
  ] as const)
    it(`asks once of a service that ${what}, and is not live`, async () => {
      const service = createService(() => failure(status));
      const tab = openTab(service);
      await until("it is asked", () => service.asked.length === 1);
      await sleepPatiently(200);
      expect([service.asked.length, tab.stream.isLive, tab.gaps()]).toEqual([1, false, 0]);
    });

  it("looks for a moment where it has no locks, and not again at once", async () => {
    delete (navigator as { locks?: unknown }).locks;
    const service = createService();
    const tab = openTab(service);
    await until("it looks", () => service.open() === 1);
    service.tell(1, "c1");
    await until("it has it", () => tab.heard.length === 1);
    await until("it looks no more", () => service.open() === 0);
    await sleepPatiently(200);
    expect(service.asked).toEqual(["now"]);
  });
});

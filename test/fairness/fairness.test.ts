import type { Socket } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { openSocket, toRequest } from "../support/raw-http.ts";
import { until } from "../support/until.ts";
import { lockWrites } from "../support/write-lock.ts";

/** The requests of one token. */
type Asker = Readonly<{ token: string; ask: TestService["request"] }>;

async function newAsker(service: TestService): Promise<Asker> {
  const body = JSON.stringify({ name: "asker", scopes: ["plants:read", "plants:write"] });
  const headers = { "content-type": "application/json" };
  const { token } = (await (await service.request("/tokens", { method: "POST", body, headers })).json()) as { token: string };
  return {
    token,
    ask: (path, init = {}) => service.request(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  };
}

/** A request that stays open: what is written is sent, and only the first bytes of the response are read. */
async function open({ url }: TestService, { token }: Asker, line: string, ...fields: readonly string[]): Promise<Socket> {
  const socket = await openSocket(url);
  socket.write(toRequest(line, { token, fields }));
  return socket;
}

const LARGE = Array.from({ length: 200 }, (_, at) => `{"id":${at + 1},"name":"${"x".repeat(60_000)}"}\n`).join("");

for (const { engine, openFlags } of ENGINES) {
  describe(`On ${engine}, one token that takes all that it can get`, () => {
    const data = temporaryFolder();
    let flags: Record<string, string>;
    let service: TestService;
    const others: Socket[] = [];
    beforeAll(async () => {
      flags = await openFlags();
      service = await startTestService({ data, queueMax: "5", queueWaitMs: "5000", ...flags });
    });
    afterAll(async () => {
      for (const socket of others) socket.destroy();
      await service.stop();
    });

    it("leaves places in the queue to another", async () => {
      const [greedy, other] = [await newAsker(service), await newAsker(service)];
      const create = async ({ ask }: Asker, id: number) => {
        const body = JSON.stringify({ id, name: "x" });
        return (await ask("/plants", { method: "POST", body, headers: { "content-type": "application/json" } })).status;
      };
      expect([await create(greedy, 1), await create(other, 1)]).toEqual([200, 200]);
      const unlock = await lockWrites({ data, ...flags });
      // Changes wait only behind running commits: PostgreSQL has three of them.
      const flood: Array<Promise<number>> = [];
      for (let id = 2; id < 100; id += 1) {
        flood.push(create(greedy, id));
        if (id < 8) await sleepPatiently(20);
      }
      await sleepPatiently(100);
      const one = create(other, 100);
      await sleepPatiently(100);
      await unlock();
      expect(await one).toBe(200);
      expect(new Set(await Promise.all(flood))).toEqual(new Set([200, 503]));
    });

    it("delays a search of another by some of its own searches, not by all of them", async () => {
      const [greedy, other] = [await newAsker(service), await newAsker(service)];
      const lines = Array.from({ length: 2000 }, (_, at) => `{"id":${-at},"name":"searched ${at}"}\n`).join("");
      expect((await greedy.ask("/plants/import", { method: "POST", body: lines })).status).toBe(200);
      const search = async ({ ask }: Asker) => {
        const response = await ask("/plants?q=searched&limit=500");
        return { status: response.status, found: ((await response.json()) as unknown[]).length };
      };
      while ((await search(other)).found < 500) await Bun.sleep(50);
      async function answersAhead(): Promise<number> {
        let answered = 0;
        const flood = Array.from({ length: 120 }, async () => {
          // On a slow machine one waits so long for its turn that it is refused.
          expect([200, 503]).toContain((await search(greedy)).status);
          answered += 1;
        });
        while (answered === 0) await Bun.sleep(1);
        const before = answered;
        expect((await search(other)).status).toBe(200);
        const ahead = answered - before;
        await Promise.all(flood);
        return ahead;
      }
      // On a busy machine some are answered while this one is still on its way. Without turns it is nearly all of them,
      // each time.
      const ahead = [await answersAhead(), await answersAhead(), await answersAhead()];
      expect(Math.min(...ahead)).toBeLessThan(40);
    });

    // What follows is the same for any store.
    if (engine !== "SQLite") return;

    it("leaves imports to another, and gets fewer itself", async () => {
      const [greedy, other] = [await newAsker(service), await newAsker(service)];
      const opened = await Promise.all(
        Array.from({ length: 8 }, () => open(service, greedy, "POST /plants/import", "Content-Length: 1000000")),
      );
      others.push(...opened);
      let refused = 0;
      for (const socket of opened) {
        socket.on("data", (head) => (refused += String(head).startsWith("HTTP/1.1 503") ? 1 : 0));
        socket.write('{"id":1,');
      }
      while (refused < 4) await Bun.sleep(5);
      expect((await other.ask("/plants/import", { method: "POST", body: '{"id":1,"name":"x"}' })).status).toBe(200);
      expect(refused).toBe(4);
    });

    it("leaves exports to another, and gets one again when one of its own ends", async () => {
      const [greedy, other] = [await newAsker(service), await newAsker(service)];
      expect((await other.ask("/plants/import", { method: "POST", body: LARGE })).status).toBe(200);
      // One after the other, because an export counts once its response has begun.
      for (let count = 0; count < 4; count += 1) {
        const socket = await open(service, greedy, "GET /plants/export");
        others.push(socket);
        await once(socket, "readable");
      }
      const statusOf = async (asker: Asker) => {
        const answer = await asker.ask("/plants/export");
        await answer.body?.cancel();
        return answer.status;
      };
      expect(await statusOf(greedy)).toBe(503);
      expect(await statusOf(other)).toBe(200);
      for (const socket of others) socket.destroy();
      await until("An export of the first is answered again", async () => (await statusOf(greedy)) === 200);
    });
  });
}

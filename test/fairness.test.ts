import { connect } from "node:net";
import type { Socket } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { ENGINES } from "./engines.ts";
import { startTestService } from "./service.ts";
import type { TestService } from "./service.ts";

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

/** A request that stays open: what is written is sent, and no answer is read after its first bytes. */
function open({ url }: TestService, { token }: Asker, lines: readonly string[]): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(`${lines.join("\r\n")}\r\nHost: plants\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

const LARGE = Array.from({ length: 200 }, (_, at) => `{"id":${at + 1},"name":"${"x".repeat(60_000)}"}\n`).join("");

for (const { engine, openFlags } of ENGINES) {
  describe(`On ${engine}, one token that takes all that it can get`, () => {
    let service: TestService;
    const others: Socket[] = [];
    beforeAll(async () => {
      service = await startTestService(await openFlags());
    }, 60_000);
    afterAll(async () => {
      for (const socket of others) socket.destroy();
      await service.stop();
    });

    it("leaves imports to another, who has to do with fewer", async () => {
      const [greedy, other] = [await newAsker(service), await newAsker(service)];
      const opened = Array.from({ length: 8 }, () => open(service, greedy, ["POST /plants/import HTTP/1.1", "Content-Length: 1000000"]));
      others.push(...opened);
      let refused = 0;
      for (const socket of opened) {
        socket.on("data", (head) => (refused += String(head).startsWith("HTTP/1.1 503") ? 1 : 0));
        socket.write('{"id":1,');
      }
      while (refused < 4) await Bun.sleep(5);
      expect((await other.ask("/plants/import", { method: "POST", body: "" })).status).toBe(200);
      expect(refused).toBe(4);
    });

    it("leaves exports to another", async () => {
      const [greedy, other] = [await newAsker(service), await newAsker(service)];
      expect((await other.ask("/plants/import", { method: "POST", body: LARGE })).status).toBe(200);
      // One after the other, as an export counts once its answer has begun.
      for (let count = 0; count < 16; count += 1) {
        const socket = open(service, greedy, ["GET /plants/export HTTP/1.1"]);
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
    });
  });
}

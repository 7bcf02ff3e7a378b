import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { until } from "../support/until.ts";
import { closeOf, openSocket } from "../support/raw-http.ts";

/** A revocation takes effect within a second. The rest is for a busy machine. */
const BITES_MS_MAX = 1500;

type Uploading = Readonly<{ send: (text: string) => void; received: () => string; closed: Promise<unknown> }>;

/** An import whose body never ends. */
async function beginImport(url: string, token: string): Promise<Uploading> {
  const socket = await openSocket(url);
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  socket.write(`POST /plants/import HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100000000\r\n\r\n`);
  return { send: (more) => void socket.write(more), received: () => text, closed: closeOf(socket) };
}

describe(`work under way`, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  async function makeToken(days?: number): Promise<Schemas["CreatedToken"]> {
    const body = JSON.stringify({ name: "worker", scopes: ["plants:read", "plants:write"], days });
    return (await service.request("/tokens", { method: "POST", body })).json() as Promise<Schemas["CreatedToken"]>;
  }

  async function revoke({ id }: { id: string }): Promise<void> {
    expect((await service.request(`/tokens/${id}`, { method: "DELETE" })).status).toBe(204);
  }

  /** Whether the plant exists. An import stores plants after each few thousand that it has read. */
  async function has(id: number): Promise<boolean> {
    return (await service.request(`/plants/${id}`)).status === 200;
  }

  function waitFor(id: number): Promise<void> {
    return until(`Plant ${id} is there`, () => has(id));
  }

  function linesFrom(first: number): string {
    return Array.from({ length: 2001 }, (_, at) => `{"id":${first + at},"name":"x"}\n`).join("");
  }

  async function expectRefused({ received, closed }: Uploading): Promise<void> {
    await Promise.race([closed, sleepPatiently(BITES_MS_MAX)]);
    expect(received()).toStartWith("HTTP/1.1 401 ");
    expect(received()).toContain('"error":40101');
    expect(received().toLowerCase()).toContain('www-authenticate: bearer realm="plant-store", error="invalid_token"\r\n');
    await closed;
  }

  for (const [how, first] of [
    ["drips", 10_000],
    ["sends nothing", 20_000],
  ] as const)
    it(`an import that ${how} is refused within a second of its token's revocation, and what it has stored stays`, async () => {
      const token = await makeToken();
      const uploading = await beginImport(service.url, token.token);
      uploading.send(linesFrom(first));
      await waitFor(first);
      const drip = setInterval(() => how === "drips" && uploading.send(" "), 100);
      await revoke(token);
      await expectRefused(uploading).finally(() => clearInterval(drip));
      expect(await has(first + 1999)).toBe(true);
    });

  it("an import that sends batch after batch is refused within a second of its token's expiry", async () => {
    const token = await makeToken(3 / 86_400);
    const uploading = await beginImport(service.url, token.token);
    let first = 30_000;
    uploading.send(linesFrom(first));
    await waitFor(first);
    const sending = setInterval(() => uploading.send(linesFrom((first += 2001))), 100);
    await Bun.sleep(Date.parse(token.expires!) - Date.now());
    await expectRefused(uploading).finally(() => clearInterval(sending));
    expect(await has(30_000)).toBe(true);
  });

  it("an export breaks off within a second of its token's revocation, before its last chunk", async () => {
    const name = "x".repeat(60_000);
    const body = Array.from({ length: 400 }, (_, id) => `{"id":${id},"name":"${name}"}\n`).join("");
    expect((await service.request("/plants/import", { method: "POST", body })).status).toBe(200);
    const token = await makeToken();
    // Compressed, all of it would be sent before that.
    const headers = { authorization: `Bearer ${token.token}`, "accept-encoding": "identity" };
    const response = await fetch(`${service.url}/plants/export`, { headers });
    expect(response.status).toBe(200);
    const reader = response.body!.getReader();
    expect((await reader.read()).done).toBe(false);
    await revoke(token);
    await sleepPatiently(BITES_MS_MAX);
    const rest = (async () => {
      while (!(await reader.read()).done);
    })();
    expect(
      await rest.then(
        () => "whole",
        () => "broken off",
      ),
    ).toBe("broken off");
    expect(service.logged.join("")).not.toContain("export_failed");
  });

  it("goes on while its token is valid", async () => {
    const token = await makeToken();
    const { send, received } = await beginImport(service.url, token.token);
    send(linesFrom(50_000));
    await Bun.sleep(BITES_MS_MAX);
    send(linesFrom(60_000));
    await waitFor(60_000);
    expect(received()).toBe("");
    await revoke(token);
  });
});

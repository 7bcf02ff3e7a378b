import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, spyOn } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import type { Client, Fetch, Plant } from "../../src/client/client.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { rejectionOf } from "../support/rejection.ts";

const ROSE = { name: "Rosa canina", tag: "shrub" };

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.stop());

function clientWith(options: { fetch?: Fetch; retries?: number } = {}): Client {
  return createClient({ url: service.url, token: service.token, ...options });
}

async function stored(): Promise<readonly Plant[]> {
  return Array.fromAsync(clientWith().list());
}

/** A `fetch` that carries out each request, and loses the responses of the first `lost`. */
function losing(lost: number): Fetch {
  let sent = 0;
  return async (url, init) => {
    const response = await fetch(url, init);
    sent += 1;
    if (sent > lost) return response;
    await response.body?.cancel();
    throw new TypeError("lost");
  };
}

/** A way to the service, which can lose the response to the next request and break the connection. */
async function startLine(): Promise<{ url: string; loseNext: () => void; stop: () => void }> {
  let isLost = false;
  const server = createServer((socket) => {
    const far = connect(Number(new URL(service.url).port), "127.0.0.1");
    for (const end of [socket, far]) end.on("error", () => undefined);
    socket.on("data", (bytes) => far.write(bytes));
    socket.on("close", () => far.destroy());
    far.on("data", (bytes) => {
      if (isLost) socket.destroy();
      else socket.write(bytes);
      isLost = false;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, loseNext: () => (isLost = true), stop: () => server.close() };
}

/** Makes random numbers foreseeable: these, one after the other. */
function draw(numbers: readonly bigint[]): void {
  const left = [...numbers];
  const spy = spyOn(crypto, "getRandomValues").mockImplementation(((array: BigUint64Array) => {
    array[0] = left.shift() ?? 0n;
    if (left.length === 0) spy.mockRestore();
    return array;
  }) as typeof crypto.getRandomValues);
}

describe("a plant without an id", () => {
  it("gets one of 11 digits, each time another, also if its name and tag are there already", async () => {
    const client = clientWith();
    const added = await Promise.all(Array.from({ length: 20 }, () => client.add(ROSE)));
    const ids = added.map(({ plant }) => plant.id);
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(String(id)).toMatch(/^[1-9]\d{10}$/);
    expect(await stored()).toEqual(ids.toSorted((left, right) => (left < right ? -1 : 1)).map((id) => ({ id, ...ROSE })));
  });

  it("is stored once if the response is lost, however often it has to be sent", async () => {
    for (const lost of [1, 2, 3]) {
      const { plant } = await clientWith({ fetch: losing(lost) }).add({ name: `Lost ${lost}` });
      expect((await stored()).filter(({ name }) => name === plant.name)).toEqual([plant]);
    }
  });

  it("is stored once if a connection that was used before breaks when it is stored, where the runtime sends a PUT again", async () => {
    const line = await startLine();
    const client = createClient({ url: line.url, token: service.token });
    await client.count();
    line.loseNext();
    const { plant } = await client.add({ name: "Lost" });
    expect(await stored()).toEqual([plant]);
    line.stop();
  });

  it("is not said to be safe to add again if it may be stored, but if it was given an id", async () => {
    const client = clientWith({ fetch: losing(9), retries: 1 });
    expect(await rejectionOf(client.add(ROSE))).toMatchObject({ name: "ConnectionError", isRepeatable: false });
    expect(await rejectionOf(client.add(ROSE, { id: 7n }))).toMatchObject({ name: "ConnectionError", isRepeatable: true });
  });

  it("does not become one with a plant of the same name and tag that has the id", async () => {
    await clientWith().create({ id: 10_000_000_007n, ...ROSE });
    draw([7n, 8n]);
    const { plant } = await clientWith().add(ROSE);
    expect(plant.id).toBe(10_000_000_008n);
    expect((await stored()).map(({ id }) => id)).toEqual([10_000_000_007n, 10_000_000_008n]);
  });

  it("gets another id than the given one if that belongs to another plant, which stays as it is", async () => {
    await clientWith().create({ id: 5n, name: "Ginkgo biloba" });
    const { plant } = await clientWith().add(ROSE, { id: 5n });
    expect(await stored()).toEqual([{ id: 5n, name: "Ginkgo biloba" }, plant]);
    expect(String(plant.id)).toMatch(/^\d{11}$/);
  });

  it("is given up when ten ids are all taken", async () => {
    let sent = 0;
    const fetch: Fetch = async () => {
      sent += 1;
      return Response.json({ error: 40900, message: "The id is taken." }, { status: 409 });
    };
    expect(await rejectionOf(clientWith({ fetch }).add(ROSE))).toMatchObject({ error: 40900 });
    expect(sent).toBe(10);
  });

  it("can be sent again under the same id by a caller who got no response", async () => {
    await rejectionOf(clientWith({ fetch: losing(1), retries: 0 }).add(ROSE, { id: 6n }));
    const { plant } = await clientWith().add(ROSE, { id: 6n });
    expect(await stored()).toEqual([plant]);
    expect(plant).toEqual({ id: 6n, ...ROSE });
  });
});

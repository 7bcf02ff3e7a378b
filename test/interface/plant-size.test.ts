import { afterAll, describe, expect, it } from "bun:test";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openTransfers } from "../support/transfers.ts";

const BYTES = 65_536;

/** The largest body of this form: `x` repeated where the form has its dots. */
function fill(form: string, x = "x"): string {
  return form.replace("…", x.repeat(Math.floor((BYTES - form.length + 1) / x.length)));
}

function put(service: TestService, id: string, body: string, method = "PUT"): Promise<Response> {
  return service.request(`/plants/${id}`, { method, body: new Blob([body]) });
}

/** Stores the largest plants that each operation can make. */
async function storeLargest(service: TestService): Promise<void> {
  const { importAll } = openTransfers(service);
  const half = "y".repeat(BYTES / 2);
  expect((await service.post(fill('{"id":1e18,"name":"…"}'))).status).toBe(200);
  expect((await service.post(fill('{"id":2,"tag":"","name":"…"}', String.raw`\"`))).status).toBe(200);
  expect((await put(service, "-9223372036854775808", fill('{"name":"…"}'))).status).toBe(201);
  expect((await put(service, "3", `{"name":"${half}"}`)).status).toBe(201);
  expect((await put(service, "3", `{"tag":"${half}"}`, "PATCH")).status).toBe(200);
  expect(await importAll(`id,name\n4,=${"\t".repeat(BYTES - 20)}`, { type: "text/csv" })).toMatchObject({ created: 1 });
  const to = { name: '"\n'.repeat(BYTES / 4), tag: '"'.repeat(BYTES / 2) };
  const body = new Blob([JSON.stringify({ changes: [{ id: 5, from: null, to }] })]);
  expect(await (await service.request("/plants/changes", { method: "POST", body })).json()).toMatchObject({ changed: 1 });
}

const service = await startTestService();
afterAll(() => service.stop());
await storeLargest(service);

describe(`the largest plants`, () => {
  for (const [query, type] of [
    ["?format=ndjson", "application/x-ndjson"],
    ["?format=csv", "text/csv"],
    ["?profile=dwc&guardFormulas=true", "text/csv"],
  ] as const) {
    it(`are in an export that an empty store can import: ${query}`, async () => {
      const other = await startTestService();
      const file = await openTransfers(service).exportAll({ query });
      const { importAll, exportAll } = openTransfers(other);
      expect(await importAll(file, { type })).toMatchObject({ created: 6, refused: 0 });
      // What guards a formula becomes part of the name, and is not guarded again.
      expect(await exportAll({ query })).toBe(file);
      await other.stop();
    });
  }

  it("can be deleted, and that can be undone", async () => {
    const { id: _, ...plant } = (await (await service.request("/plants/3")).json()) as Record<string, unknown>;
    for (const [from, to] of [
      [plant, null],
      [null, plant],
    ]) {
      const body = new Blob([JSON.stringify({ changes: [{ id: 3, from, to }] })]);
      expect(await (await service.request("/plants/changes", { method: "POST", body })).json()).toMatchObject({ changed: 1 });
    }
  });

  it("grow by no patch", async () => {
    const grown = await put(service, "3", fill('{"tag":"…"}'), "PATCH");
    expect([grown.status, await grown.json()]).toEqual([413, { error: 41300, message: expect.stringContaining("65536 bytes") }]);
    expect(await (await service.request("/plants/3")).json()).toMatchObject({ tag: "y".repeat(BYTES / 2) });
  });

  it("are refused by an import that would make larger ones", async () => {
    const { importAll } = openTransfers(service);
    for (const [name, says] of [
      ["x".repeat(BYTES + 1), "have more than 65536 bytes:"],
      ["\0".repeat(BYTES / 2), "131072 bytes as JSON"],
    ] as const) {
      const { problems } = await importAll(`id,name\n9,${name}`, { type: "text/csv" });
      expect(problems).toEqual([{ line: 2, error: 41300, message: expect.stringContaining(says) }]);
    }
  });
});

it(`lets a patch change a plant that is larger than the limit now, but make none so`, async () => {
  const flags = { data: temporaryFolder() };
  const before = await startTestService(flags);
  await put(before, "1", fill('{"name":"…"}'));
  await before.stop();
  const after = await startTestService({ ...flags, bodyBytesMax: "1024" });
  const statuses = [];
  for (const body of ['{"tag":"a"}', `{"name":"${"x".repeat(1000)}"}`, `{"tag":"${"x".repeat(100)}"}`]) {
    statuses.push((await put(after, "1", body, "PATCH")).status);
  }
  expect(statuses).toEqual([200, 200, 413]);
  await after.stop();
});

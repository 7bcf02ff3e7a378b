import { afterAll, afterEach, beforeAll, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import type { Fault } from "../support/postgres/faults.ts";
import { until } from "../support/until.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import type { Proxy } from "../support/postgres/proxy.ts";
import { startPatientClock } from "../support/patient-clock.ts";

const CREATE = /^WITH made AS \(INSERT INTO public\.plants /;
const SWAP = /^WITH made AS \(UPDATE public\.plants SET name/;
/** What replaces plants, however it does: an UPDATE, or an INSERT that replaces what is in its way. */
const REPLACE = /^WITH made AS \((UPDATE public\.plants SET name|INSERT INTO public\.plants [^]*DO UPDATE)/;
/** Begins an export: its transaction, and the moment of that. */
const BEGIN = /^BEGIN TRANSACTION/;
const FIX = /^SELECT set_config\('idle_in_transaction_session_timeout'/;
const LOOK = /^SELECT id, name, tag FROM public\.plants WHERE id = ANY/;
const WAIT_MS = 1000;

/** Transient faults, despite which a create is answered 200. */
const PASSING: readonly Fault[] = [
  { kind: "cut_before" },
  { kind: "cut_during" },
  { kind: "cut_after" },
  { kind: "torn" },
  { kind: "garbled" },
  { kind: "hold", holdMs: 300 },
  { kind: "error", sqlstate: "40001" },
  { kind: "error", sqlstate: "40P01" },
  { kind: "error", sqlstate: "25006" },
  { kind: "error", sqlstate: "26000" },
  { kind: "error", sqlstate: "42P05" },
  { kind: "error", sqlstate: "54000", routine: "GetNewTransactionId" },
  { kind: "fatal", sqlstate: "57P01" },
];

/** Faults after which it is unknown whether a change was made. */
const UNKNOWN: readonly Fault[] = [{ kind: "cut_during" }, { kind: "cut_after" }, { kind: "torn" }, { kind: "garbled" }];

type BulkAnswer = Readonly<
  Record<"changed" | "same" | "conflicts" | "failed", number> & { outcomes: ReadonlyArray<{ outcome: string; error?: number }> }
>;

describe("a service whose database fails", () => {
  let proxy: Proxy;
  let data: string;
  let database: string;
  let service: TestService;
  let lastId = 0;
  beforeAll(async () => {
    const server = await sharedCluster();
    proxy = await startProxy({ target: server });
    database = proxy.url(await server.createDatabase());
    data = temporaryFolder();
    service = await startTestService({ data, database });
  });
  afterEach(() => proxy.clear());
  afterAll(async () => {
    await service.stop();
    await proxy.stop();
  });

  /** Another one, which gives up soon. */
  const startHasty = () => startTestService({ data, database, queueWaitMs: String(WAIT_MS) });

  const send = (method: string, path: string, body: string, type = "application/json", on = service) =>
    on.request(path, { method, headers: { "content-type": type }, body });
  const put = (path: string, name: string) => send("PUT", path, JSON.stringify({ name }));
  const importReplacing = (body: string, on = service) =>
    send("POST", "/plants/import?onConflict=replace", body, "application/x-ndjson", on);
  const readAll = async (path: string, on = service) => (await on.request(path)).text();

  /** Another plant, which is there. */
  async function makePlant(): Promise<string> {
    lastId += 1;
    expect((await put(`/plants/${lastId}`, "before")).status).toBe(201);
    return `/plants/${lastId}`;
  }

  /** Ready again, after one statement that succeeds. */
  async function heal(on = service): Promise<void> {
    proxy.clear();
    await until("The service is ready", async () => (await on.request("/readyz")).status === 200);
  }

  for (const fault of PASSING) {
    it(`creates a plant despite ${nameOf(fault)}, and answers the same again`, async () => {
      const body = `{"id":${++lastId},"name":"Aloe vera"}`;
      proxy.once(fault, CREATE);
      expect((await service.post(body)).status).toBe(200);
      expect(proxy.injected.get(nameOf(fault))).toBeGreaterThan(0);
      expect((await service.post(body)).status).toBe(200);
      expect(await readAll(`/plants/${lastId}`)).toBe(body);
    });
  }

  for (const fault of UNKNOWN) {
    it(`says which of many changes are not known after ${nameOf(fault)}, and makes them when they are sent again`, async () => {
      const ids = Array.from({ length: 300 }, () => ++lastId);
      const creates = ids.map((id) => `{"id":${id},"from":null,"to":{"name":"Aloe"}}`);
      const updates = ids.map((id) => `{"id":${id},"from":{"name":"Aloe"},"to":{"name":"Aloe","tag":"x"}}`);
      for (const [changes, statement] of [
        [creates, CREATE],
        [updates, SWAP],
      ] as const) {
        const change = async () => (await (await send("POST", "/plants/changes", `{"changes":[${changes.join()}]}`)).json()) as BulkAnswer;
        proxy.once(fault, statement);
        const first = await change();
        const failed = first.outcomes.filter(({ outcome }) => outcome === "failed");
        expect(failed.length).toBeGreaterThan(0);
        expect(failed.length + first.changed).toBe(300);
        expect(new Set(failed.map(({ error }) => error))).toEqual(new Set([50301]));
        await heal();
        const again = await change();
        expect([again.changed + again.same, again.conflicts, again.failed]).toEqual([300, 0, 0]);
        expect(again.same).toBeGreaterThanOrEqual(first.changed);
      }
      const { after, text } = { after: ids[0]! - 1, text: ids.map((id) => `{"id":${id},"name":"Aloe","tag":"x"}`).join() };
      expect(await readAll(`/plants?limit=300&after=${after}`)).toBe(`[${text}]`);
    });
  }

  for (const sqlstate of ["53300", "57P03"] as const) {
    it(`creates a plant even if the first new connection is refused with ${sqlstate}`, async () => {
      proxy.once({ kind: "refusal", sqlstate });
      proxy.cutAll();
      expect((await service.post(`{"id":${++lastId},"name":"Aloe vera"}`)).status).toBe(200);
      expect(proxy.injected.get(`refusal ${sqlstate}`)).toBe(1);
    });
  }

  for (const fault of UNKNOWN) {
    it(`answers a change 503 after ${nameOf(fault)}, because its outcome is unknown; the same again is 200`, async () => {
      const path = await makePlant();
      proxy.once(fault, SWAP);
      const response = await put(path, "after");
      expect([response.status, response.headers.has("retry-after")]).toEqual([503, true]);
      expect(["before", "after"]).toContain(((await (await service.request(path)).json()) as { name: string }).name);
      expect((await put(path, "after")).status).toBe(200);
      expect(await (await service.request(path)).json()).toEqual({ id: lastId, name: "after" });
      await heal();
    });
  }

  for (const fault of [{ kind: "error", sqlstate: "40001" }, { kind: "cut_before" }] as const) {
    const status = fault.kind === "error" ? 200 : 503;
    it(`answers a change that meets ${nameOf(fault)} with ${status}, and makes it only if that is 200`, async () => {
      const path = await makePlant();
      proxy.once(fault, SWAP);
      expect((await put(path, "after")).status).toBe(status);
      expect(await (await service.request(path)).json()).toMatchObject({ name: status === 200 ? "after" : "before" });
      await heal();
    });
  }

  it("counts a plant as created if it was deleted at the moment when an import was to replace it", async () => {
    const path = await makePlant();
    const held = proxy.injected.get("hold") ?? 0;
    proxy.once({ kind: "hold", holdMs: WAIT_MS }, REPLACE);
    const imported = importReplacing(`{"id":${lastId},"name":"after"}`);
    await until("The import is about to replace the plant", async () => proxy.injected.get("hold") === held + 1);
    expect((await service.request(path, { method: "DELETE" })).status).toBe(204);
    expect(await (await imported).json()).toMatchObject({ created: 1, replaced: 0, unchanged: 0, refused: 0 });
    expect(await (await service.request(path)).json()).toEqual({ id: lastId, name: "after" });
    await heal();
  });

  it("does not undo a deletion that was made after an import had replaced the plant and its connection had broken", async () => {
    // After other faults a service takes the proxy for a pooler, where a cut comes before the commit.
    const fresh = await startTestService({ data, database });
    const path = await makePlant();
    proxy.once({ kind: "cut_after" }, REPLACE);
    // What the import does next waits: another look at the plant, which it has looked at once, or another try.
    const held = proxy.injected.get("hold") ?? 0;
    proxy.once({ kind: "hold", holdMs: 0 }, LOOK);
    for (const next of [LOOK, REPLACE]) proxy.once({ kind: "hold", holdMs: WAIT_MS / 2 }, next);
    const imported = importReplacing(`{"id":${lastId},"name":"after"}`, fresh);
    await until("The import goes on", async () => proxy.injected.get("hold") === held + 2);
    const changes = `{"changes":[{"id":${lastId},"from":{"name":"after"},"to":null}]}`;
    expect(await (await send("POST", "/plants/changes", changes)).json()).toMatchObject({ changed: 1 });
    expect((await imported).status).toBe(503);
    expect((await service.request(path)).status).toBe(404);
    await fresh.stop();
  });

  for (const fault of [...UNKNOWN, { kind: "cut_before" }] as const) {
    it(`replaces the plants of an import despite ${nameOf(fault)}, and counts each as replaced`, async () => {
      const ids = Array.from({ length: 50 }, () => ++lastId);
      const lines = (name: string) => ids.map((id) => `{"id":${id},"name":"${name}"}`);
      expect((await importReplacing(lines("before").join("\n"))).status).toBe(200);
      proxy.once(fault, REPLACE);
      const response = await importReplacing(lines("after").join("\n"));
      // A statement that runs still when the import looks again is waited for, and found made.
      const { replaced, unchanged, ...rest } = (await response.json()) as { replaced: number; unchanged: number };
      expect([response.status, replaced + unchanged]).toEqual([200, 50]);
      if (fault.kind !== "cut_during") expect(unchanged).toBe(0);
      expect(rest).toMatchObject({ read: 50, created: 0, refused: 0 });
      expect(await (await service.request(`/plants?limit=50&after=${ids[0]! - 1}`)).text()).toBe(`[${lines("after").join()}]`);
      await heal();
    });
  }

  for (const fault of [...PASSING, { kind: "refusal", sqlstate: "53300" }] as const) {
    it(`exports all plants despite ${nameOf(fault)} while it begins`, async () => {
      const body = `{"id":${++lastId},"name":"Aloe vera"}`;
      expect((await service.post(body)).status).toBe(200);
      for (const statement of [BEGIN, FIX]) {
        const struck = proxy.injected.get(nameOf(fault)) ?? 0;
        proxy.once(fault, fault.kind === "refusal" ? undefined : statement);
        const response = await service.request("/plants/export?format=ndjson");
        expect(response.status).toBe(200);
        expect((await response.text()).endsWith(`${body}\n`)).toBe(true);
        expect(proxy.injected.get(nameOf(fault))).toBeGreaterThan(struck);
      }
    });
  }

  it("answers 503 with Retry-After if the disk of the database is full, and says so on /readyz until a change succeeds", async () => {
    proxy.randomly({ faults: [{ kind: "error", sqlstate: "53100" }], probability: 1, seed: 1, on: /^(WITH made AS \()?(INSERT|UPDATE)/ });
    const response = await service.post(`{"id":${++lastId},"name":"Aloe vera"}`);
    expect([response.status, response.headers.has("retry-after")]).toEqual([503, true]);
    expect(((await response.json()) as { error: number }).error).toBe(50302);
    expect((await service.request("/plants/1")).status).toBe(200);
    expect((await service.request("/readyz")).status).toBe(503);
    expect((await service.request("/livez")).status).toBe(200);
    await heal();
  });

  it("answers 503 within its limit while the database hangs, and 200 when it goes on", async () => {
    const hasty = await startHasty();
    proxy.once({ kind: "hold", holdMs: 3 * WAIT_MS }, CREATE);
    const clock = startPatientClock();
    const response = await hasty.post(`{"id":${++lastId},"name":"Aloe vera"}`);
    expect(response.status).toBe(503);
    expect(clock.ms()).toBeLessThan(2 * WAIT_MS);
    expect((await service.post(`{"id":${lastId},"name":"Aloe vera"}`)).status).toBe(200);
    await heal(hasty);
    await hasty.stop();
  });

  it("stays ready while one statement takes too long and others do not", async () => {
    // A probe on a busy machine may take longer than usual.
    const patient = await startTestService({ data, database, queueWaitMs: String(4 * WAIT_MS) });
    proxy.once({ kind: "hold", holdMs: 12 * WAIT_MS }, CREATE);
    expect((await patient.post(`{"id":${++lastId},"name":"Aloe vera"}`)).status).toBe(503);
    expect((await patient.request("/readyz")).status).toBe(200);
    expect((await patient.post(`{"id":${lastId},"name":"Aloe vera"}`)).status).toBe(200);
    expect((await patient.request("/readyz")).status).toBe(200);
    await patient.stop();
  });
});

function nameOf(fault: Fault): string {
  return "sqlstate" in fault ? `${fault.kind} ${fault.sqlstate}` : fault.kind;
}

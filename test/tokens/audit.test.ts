import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { createAudit } from "../../src/auth/audit.ts";
import type { Who } from "../../src/auth/audit.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { createLog } from "../../src/runtime/log.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { escapeControls } from "../../src/runtime/terminal-text.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROJECT, startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";

type Event = Readonly<Record<string, unknown>>;

function eventsOf(lines: readonly string[], name: string): Event[] {
  return lines.map((line) => JSON.parse(line) as Event).filter(({ event }) => event === name);
}

function openAudit(changes: "none" | "sum" | "each") {
  const lines: string[] = [];
  const log = createLog({ level: "info", isTerminal: false, write: (line) => lines.push(line), now: Date.now });
  return { lines, audit: createAudit({ log, changes }) };
}

function whoOf(token: string, address: string): Who {
  return { principal: { token: { id: token, name: "", scopes: [], created: 0 }, address }, requestId: "request" };
}

const WHO = { principal: "first", principalName: "first" };
const FROM = { address: "127.0.0.1", requestId: "my-request" };

describe("the log of who did what", () => {
  const services: TestService[] = [];
  async function open(flags: Record<string, string> = {}): Promise<TestService> {
    const service = await startTestService(flags);
    services.push(service);
    return service;
  }
  afterAll(() => Promise.all(services.map((service) => service.stop())));

  const named = { "x-request-id": "my-request" };
  const NEW = JSON.stringify({ name: "x", scopes: ["plants:read", "plants:write", "admin"].slice(0, 2), days: 1 });

  it("logs each creation and revocation of a token once, with who and from where, and no secret", async () => {
    const service = await open();
    const key = { ...named, "idempotency-key": '"once"' };
    const made: Record<string, string>[] = [];
    for (let time = 0; time < 2; time += 1)
      made.push((await (await service.request("/tokens", { method: "POST", body: NEW, headers: key })).json()) as Record<string, string>);
    const { id, token, expires } = made[0]!;
    for (let time = 0; time < 2; time += 1) await service.request(`/tokens/${id}`, { method: "DELETE", headers: named });
    const done = { level: "info", ...FROM, ...WHO, token: id, outcome: "done" };
    const created = { ...done, tokenName: "x", scopes: ["plants:read", "plants:write"], expires };
    expect(eventsOf(service.logged, "token_created")).toEqual([expect.objectContaining(created)]);
    const revoked = { ...done, childrenRevoked: 0, children: [] };
    expect(eventsOf(service.logged, "token_revoked")).toEqual([expect.objectContaining(revoked)]);
    expect(service.logged.join("")).not.toContain(token!.slice(6, 38));
  });

  it("logs refused logins by address and outcome: the first at once, the following ones as a count", async () => {
    const service = await open();
    const { id, token } = (await (await service.request("/tokens", { method: "POST", body: NEW })).json()) as Record<string, string>;
    for (let time = 0; time < 5; time += 1) await fetch(`${service.url}/plants`, { headers: named });
    await service.request("/plants", { headers: { ...named, authorization: "Bearer x" } });
    await service.request("/tokens", { headers: { ...named, authorization: `Bearer ${token}` } });
    await service.request(`/tokens/${id}`, { method: "DELETE" });
    await Bun.sleep(600);
    await service.request("/plants", { headers: { ...named, authorization: `Bearer ${token}` } });
    const told = eventsOf(service.logged, "login_refused");
    for (const event of told) expect(event).toMatchObject({ ...FROM, count: 1 });
    expect(told.map(({ outcome, principal }) => [outcome, principal])).toEqual([
      ["missing_token", undefined],
      ["invalid_token", undefined],
      ["insufficient_scope", id],
      ["invalid_token", id],
    ]);
    await service.stop();
    services.pop();
    expect(eventsOf(service.logged, "login_refused").slice(4)).toEqual([
      expect.objectContaining({ outcome: "missing_token", address: "127.0.0.1", count: 4 }),
    ]);
  });

  it("logs refused logins in a bounded number of lines, however many addresses there are, and counts them all", () => {
    const { lines, audit } = openAudit("sum");
    for (let round = 0; round < 5; round += 1) {
      for (let address = 0; address < 2000; address += 1) audit.refused(whoOf("a", `10.0.0.${address}`), "invalid_token");
      expect(lines.length).toBeLessThanOrEqual(101 * (round + 1));
      audit.flushRefusals();
    }
    const counts = eventsOf(lines, "login_refused").map(({ count }) => Number(count));
    expect(counts.reduce((sum, count) => sum + count)).toBe(10_000);
  });

  it("logs how each import and export ended, with its counts", async () => {
    const service = await open();
    const body = '{"id":1,"name":"x"}\n{"id":2,"name":"y"}\nx\n';
    await service.request("/plants/import", { method: "POST", body, headers: named });
    await service.request("/plants/import", { method: "POST", body: new Uint8Array(), headers: named });
    await (await service.request("/plants/export", { headers: { ...named, "accept-encoding": "identity" } })).text();
    const done = { level: "info", ...FROM, principal: "first", outcome: "done" };
    const counts = { read: 3, created: 2, refused: 1, ms: expect.any(Number) };
    expect(eventsOf(service.logged, "import_ended")[0]).toMatchObject({ ...done, ...counts });
    expect(eventsOf(service.logged, "export_ended")).toEqual([expect.objectContaining({ ...done, bytes: 40 })]);
  });

  const CHANGES: ReadonlyArray<readonly [method: string, path: string, body?: string]> = [
    ["POST", "/plants", '{"id":1,"name":"a"}'],
    ["POST", "/plants", '{"id":1,"name":"a"}'],
    ["PUT", "/plants/2", '{"name":"b"}'],
    ["PUT", "/plants/2", '{"name":"b"}'],
    ["PUT", "/plants/2", '{"name":"c"}'],
    ["PATCH", "/plants/2", '{"name":"c"}'],
    ["PATCH", "/plants/2", '{"tag":"t"}'],
    ["DELETE", "/plants/1"],
    ["DELETE", "/plants/1"],
    ["POST", "/plants", '{"id":2,"name":"other"}'],
  ];
  async function changeAll(flags: Record<string, string>): Promise<TestService> {
    const service = await startTestService(flags);
    for (const [method, path, body] of CHANGES)
      await service.request(path, { method, headers: named, ...(body === undefined ? {} : { body }) });
    await service.stop();
    return service;
  }

  it("sums up the changes of a token that changed something, logs each of them, or none, as it is set", async () => {
    const each = ["created 1", "created 2", "replaced 2", "replaced 2", "deleted 1"];
    for (const [logChanges, sums, changes] of [
      ["sum", [expect.objectContaining({ ...WHO, created: 2, replaced: 2, deleted: 1, unknown: 0 })], []],
      ["each", [], each],
      ["none", [], []],
    ] as const) {
      const { logged } = await changeAll({ logChanges });
      expect(eventsOf(logged, "plants_changed")).toEqual([...sums]);
      const told = eventsOf(logged, "plant_changed");
      expect(told.map(({ change, id }) => `${String(change)} ${String(id)}`)).toEqual([...changes]);
      for (const event of told) expect(event).toMatchObject({ level: "info", ...WHO, ...FROM, outcome: "done" });
    }
  });

  it("logs a change with an unknown outcome as unknown, and none that certainly was not made", async () => {
    const data = temporaryFolder();
    const service = await startTestService({ data, logChanges: "each", queueWaitMs: "300" });
    await service.post('{"id":1,"name":"a"}');
    await service.post('{"id":8,"name":"probe"}');
    const { id } = (await (await service.request("/tokens", { method: "POST", body: NEW })).json()) as { id: string };
    const before = service.logged.length;
    const change = (method: string, path: string, body?: string) =>
      service.request(path, { method, headers: named, ...(body === undefined ? {} : { body }) });
    for (const [method, path, body] of [
      ["POST", "/plants", '{"id":2,"name":"b"}'],
      ["DELETE", "/plants/1"],
      ["POST", "/plants/changes", '{"changes":[{"id":3,"from":null,"to":{"name":"c"}}]}'],
      ["POST", "/tokens", NEW],
      ["DELETE", `/tokens/${id}`],
    ] as const) {
      // Another process holds the write lock: the commit is given up, but may still be made later. What waits behind it
      // certainly is not.
      const other = new DatabaseSync(join(data, "plants.db"));
      other.exec("BEGIN IMMEDIATE");
      const running = change(method, path, body);
      await sleepPatiently(100);
      const waiting = change("PUT", "/plants/9", '{"name":"behind"}');
      const errors = await Promise.all([running, waiting].map(async (one) => ((await (await one).json()) as { error: number }).error));
      expect([method, path, ...errors]).toEqual([method, path, 50301, 50300]);
      other.exec("ROLLBACK");
      other.close();
      while ((await change("PUT", "/plants/8", '{"name":"probe"}')).status !== 200) await Bun.sleep(20);
    }
    await service.stop();
    const told = service.logged.slice(before).map((line) => JSON.parse(line) as Event);
    const changes = told.filter(({ event }) => ["plant_changed", "token_created", "token_revoked"].includes(String(event)));
    expect(changes).toMatchObject(
      [
        { event: "plant_changed", change: "created", id: "2" },
        { event: "plant_changed", change: "deleted", id: "1" },
        { event: "plant_changed", change: "created", id: "3" },
        { event: "token_created", tokenName: "x" },
        { event: "token_revoked", token: id },
      ].map((event) => ({ ...event, ...WHO, ...FROM, outcome: "unknown" })),
    );
  });

  it("counts changes with an unknown outcome separately in a sum, and changes that certainly were not made not at all", () => {
    const { lines, audit } = openAudit("sum");
    const who = whoOf("a", "");
    for (const reason of [new PlantStoreError("store_unavailable"), new PlantStoreError("store_full"), new Error("a bug")])
      audit.failed(who, "created", asPlantId(1n), reason);
    for (const code of ["overloaded", "draining", "id_in_use", "precondition_failed"] as const)
      audit.failed(who, "created", asPlantId(1n), new PlantStoreError(code));
    audit.flushChanges();
    expect(eventsOf(lines, "plants_changed")).toEqual([
      expect.objectContaining({ principal: "a", created: 0, replaced: 0, deleted: 0, unknown: 3 }),
    ]);
  });

  it("sums up changes in a bounded number of lines, however many tokens there are", () => {
    const { lines, audit } = openAudit("sum");
    for (let token = 0; token < 2000; token += 1) audit.changed(whoOf(`t${token}`, ""), "created", asPlantId(1n));
    audit.flushChanges();
    expect(lines.length).toBeLessThan(110);
    expect(eventsOf(lines, "plants_changed").reduce((sum, { created }) => sum + Number(created), 0)).toBe(2000);
  });
});

describe("docs/reference/log-events.md", () => {
  it("lists every event of the source, and no other", () => {
    const files = readdirSync(join(PROJECT, "src"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const text = files.map((file) => readFileSync(join(PROJECT, "src", file), "utf8")).join("\n");
    const inCode = [
      ...text.matchAll(/\blog\??\.(?:debug|info|warn|error)\(\s*"(\w+)"/g),
      ...text.matchAll(/\bend\("(\w+)", /g),
      ...text.matchAll(/\baudit\.note\("(\w+)"/g),
    ].map(([, event]) => event!);
    const inDocs = readFileSync(join(PROJECT, "docs/reference/log-events.md"), "utf8")
      .match(/^- \*\*`.*?\(/gm)!
      .flatMap((lead) => Array.from(lead.matchAll(/\*\*`(\w+)`\*\*/g), ([, event]) => event!));
    expect(inDocs.toSorted()).toEqual([...new Set(inCode)].toSorted());
  });
});

describe("a start", () => {
  it("logs the settings in force, and warns once that other machines may reach it without encryption", async () => {
    const data = temporaryFolder();
    const flags = [...PATIENT, "--log-changes", "each", "--host", "0.0.0.0"];
    for (const proxies of [[], ["--trusted-proxies", "127.0.0.1"]]) {
      const { lines, end } = await startProcess({ data, flags: [...flags, ...proxies] });
      expect(eventsOf(lines, "settings")).toEqual([
        expect.objectContaining({ data, host: "0.0.0.0", logChanges: "each", database: "sqlite" }),
      ]);
      // With a proxy in front, that does the TLS.
      expect(eventsOf(lines, "exposed_without_tls").map(({ level }) => level)).toEqual(proxies.length === 0 ? ["warn"] : []);
      await end("SIGTERM");
    }
  });
});

describe("a terminal control sequence", () => {
  const ESCAPE = "\u001b";
  const HOSTILE = "\u001b]0;x\u0007\u009b31m\r\n\u202e\u2066\u2028\u2029\u007f\u200f\ud800 é 🌿 👩‍🌾";

  it("is shown as \\uXXXX, and everything else unchanged", () => {
    const seen = escapeControls(HOSTILE);
    expect(seen).toBe("\\u001b]0;x\\u0007\\u009b31m\\u000d\\u000a\\u202e\\u2066\\u2028\\u2029\\u007f\\u200f\\ud800 é 🌿 👩‍🌾");
    expect(JSON.parse(escapeControls(JSON.stringify(HOSTILE)))).toBe(HOSTILE);
  });

  it("never reaches the log unescaped, in either of its formats", () => {
    for (const isTerminal of [true, false]) {
      const lines: string[] = [];
      createLog({ level: "info", isTerminal, write: (line) => lines.push(line), now: () => 0 }).info("event", {
        name: HOSTILE,
        deep: { names: [HOSTILE] },
      });
      // The colours are our own.
      const text = lines[0]!.slice(0, -1).replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, "g"), "");
      expect(text).toBe(escapeControls(text));
      expect(text).toContain(String.raw`\u202e`);
    }
  });
});

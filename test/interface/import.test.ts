import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { expectConform } from "../support/conform.ts";
import { PROJECT } from "../support/process.ts";
import { openSocket } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { IMPORT, openTransfers } from "../support/transfers.ts";
import { until } from "../support/until.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { post, importAll, exportAll } = openTransfers(service);

describe("an import", () => {
  it("counts its lines by outcome, and changes nothing if repeated", async () => {
    const own = await startTestService();
    await own.post('{"id":1,"name":"there"}');
    await own.post('{"id":2,"name":"there","tag":"x"}');
    const body =
      '{"id":1,"name":"there"}\n{"id":2,"name":"other"}\n{"id":3,"name":"new"}\n{"id":3,"name":"new"}\n{"id":3,"name":"third"}\n{"id":4}\n';
    const inUse = { error: 40900, message: "The id belongs to another plant: choose an id that is not in use." };
    const missing = { line: 6, error: 40005, message: "The field `name` is missing: add it." };
    const problems = [{ line: 2, ...inUse }, { line: 5, ...inUse }, missing];
    const expected = { read: 6, created: 1, unchanged: 2, replaced: 0, refused: 3, problems, unusedColumns: [] };

    expect(await importAll(body, { on: own, query: "?dryRun=true" })).toEqual({
      ...expected,
      outcomes: ["unchanged", "refused", "created", "unchanged", "refused", "refused"],
    });
    expect(await exportAll({ on: own })).toBe('{"id":1,"name":"there"}\n{"id":2,"name":"there","tag":"x"}\n');
    expect(await importAll(body, { on: own, query: "?dryRun=false&onConflict=refuse" })).toEqual(expected);
    const stored = '{"id":1,"name":"there"}\n{"id":2,"name":"there","tag":"x"}\n{"id":3,"name":"new"}\n';
    expect(await exportAll({ on: own })).toBe(stored);
    expect(await importAll(body, { on: own })).toEqual({ ...expected, created: 0, unchanged: 3 });
    expect(await exportAll({ on: own })).toBe(stored);
    await own.stop();
  });

  it("keeps the last line of each id with onConflict=replace", async () => {
    const own = await startTestService();
    await own.post('{"id":1,"name":"there","tag":"x"}');
    const body =
      '{"id":1,"name":"there","tag":"x"}\n{"id":1,"name":"second"}\n{"id":2,"name":"new"}\n{"id":2,"name":"new","tag":""}\n{"id":2}\n';
    const expected = { read: 5, created: 1, unchanged: 1, replaced: 2, refused: 1 };
    expect(await importAll(body, { on: own, query: "?onConflict=replace&dryRun=true" })).toMatchObject(expected);
    expect(await exportAll({ on: own })).toBe('{"id":1,"name":"there","tag":"x"}\n');
    expect(await importAll(body, { on: own, query: "?onConflict=replace" })).toMatchObject(expected);
    expect(await exportAll({ on: own })).toBe('{"id":1,"name":"second"}\n{"id":2,"name":"new","tag":""}\n');
    await own.stop();
  });

  it("lists the first 1,000 problems and counts them all", async () => {
    const summary = await importAll("x\n".repeat(1500));
    expect(summary).toMatchObject({ read: 1500, refused: 1500 });
    expect(summary.problems.map(({ line }) => line)).toEqual(Array.from({ length: 1000 }, (_, at) => at + 1));
  });

  it("spans many commits: the last of 10,001 lines conflicts with the first", async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `{"id":${1_000_000 + at},"name":"x"}`);
    const summary = await importAll([...lines, '{"id":1000000,"name":"other"}'].join("\n"));
    expect(summary).toMatchObject({ read: 10_001, created: 10_000, refused: 1 });
    expect(summary.problems).toMatchObject([{ line: 10_001, error: 40900 }]);
  });

  it("accepts each name of NDJSON and CSV, in any case and with its charset", async () => {
    for (const type of [
      "application/x-ndjson",
      "APPLICATION/X-NDJSON; charset=UTF-8",
      "application/ndjson",
      "application/jsonl; charset=utf-8",
    ])
      expect(await importAll('{"id":10,"name":"x"}\n', { type })).toMatchObject({ read: 1, refused: 0 });
    for (const type of ["text/csv", "text/csv; charset=utf-8", 'text/csv; header=present; charset="utf8"'])
      expect(await importAll("id,name\n10,x\n", { type })).toMatchObject({ read: 1, refused: 0 });
  });

  it("refuses any other type, and its message and Accept say what to send", async () => {
    const types = ["application/x-ndjson", "application/ndjson", "application/jsonl", "text/csv", "application/octet-stream"];
    const message = `The body is declared as another media type: send the header Content-Type: ${types.join(" or ")}.`;
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "text/csvx", "csv"]) {
      const response = await post("id,name\n1,x\n", { type });
      expect([response.status, response.headers.get("accept")]).toEqual([415, types.join(", ")]);
      expect(await expectConform(IMPORT, response)).toEqual({ error: 41500, message });
    }
  });

  it("refuses any Content-Encoding but gzip, and Accept-Encoding says what to send", async () => {
    const response = await post(Bun.zstdCompressSync(Buffer.from('{"id":1,"name":"x"}')), { headers: { "content-encoding": "zstd" } });
    expect([response.status, response.headers.get("accept-encoding")]).toEqual([415, "gzip, identity"]);
    expect(await expectConform(IMPORT, response)).toMatchObject({ error: 41502 });
  });
});

/** A connection that begins an import; `send` resolves when its bytes have left. */
async function beginImport(on: TestService): Promise<{ send: (text: string) => Promise<void>; destroy: () => void }> {
  const socket = await openSocket(on.url);
  const send = (text: string) => new Promise<void>((sent, fail) => socket.write(text, (error) => (error ? fail(error) : sent())));
  await send(`POST /plants/import HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${on.token}\r\nContent-Length: 100000000\r\n\r\n`);
  return { send, destroy: () => socket.destroy() };
}

describe("a client that disconnects in the middle of an import", () => {
  it("leaves whole commits of what it sent, and the service goes on", async () => {
    const own = await startTestService();
    const lines = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`);
    const { send, destroy } = await beginImport(own);
    await send(lines.join(""));
    await send('{"id":20000,"name":"cut');
    await until("Some are stored", async () => (await exportAll({ on: own })) !== "");
    destroy();
    let stored = "";
    for (let next = await exportAll({ on: own }); next !== stored; next = await exportAll({ on: own })) {
      stored = next;
      await Bun.sleep(200);
    }
    const count = stored.split("\n").length - 1;
    expect(count).toBeGreaterThan(0);
    expect(count % 2000).toBe(0);
    expect(stored).toBe(lines.slice(0, count).join(""));
    // One more commit may have begun before it was noticed.
    const { unchanged, ...again } = await importAll(lines.join(""), { on: own });
    expect([unchanged % 2000, unchanged >= count]).toEqual([0, true]);
    expect(again).toEqual(expect.objectContaining({ read: 20_000, created: 20_000 - unchanged, refused: 0, replaced: 0 }));
    expect(own.logged.join("")).not.toContain("unexpected_error");
    await own.stop();
  });
});

it("an import of examples/plants.csv creates every plant, and the same file changes nothing", async () => {
  const file = readFileSync(join(PROJECT, "examples/plants.csv"), "utf8");
  const [columns, ...rows] = file.trimEnd().split("\n");
  expect(columns).toBe("id,name,tag");
  // No cell of the file is quoted.
  const plants = rows.map((row) => row.split(",") as [id: string, name: string, tag: string]);
  expect(plants.map(([id]) => id)).toEqual(Array.from({ length: 1000 }, (_, at) => String(1001 + at)));
  const own = await startTestService();
  expect(await importAll(file, { on: own, type: "text/csv" })).toMatchObject({ created: 1000 });
  expect(await exportAll({ on: own })).toBe(plants.map(([id, name, tag]) => `${JSON.stringify({ id: Number(id), name, tag })}\n`).join(""));
  expect(await importAll(file, { on: own, type: "text/csv" })).toMatchObject({ unchanged: 1000 });
  await own.stop();
});

import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { CATALOGUE } from "../../contract/generated/error-catalogue.ts";
import { csvWriter } from "../../src/files/csv-writer.ts";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { clean, EXPORT, openTransfers } from "../support/transfers.ts";
import { until } from "../support/until.ts";

const service = await startTestService();
afterAll(() => service.stop());
const { importAll, exportAll } = openTransfers(service);

describe("an export", () => {
  it("refuses Darwin Core as NDJSON, which no import would read", async () => {
    const response = await service.request("/plants/export?format=ndjson&profile=dwc");
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 40006,
      message: "The profile dwc works with CSV only: ask for the format csv, or for none.",
    });
  });

  it("puts quotes around CSV text with space at its ends, which many programs would trim", () => {
    const write = csvWriter({ guardFormulas: false });
    const rows = [
      { id: 1n, name: " Acer", tag: "tree " },
      { id: 2n, name: "Acer palmatum" },
    ];
    expect(rows.map(write)).toEqual(['1," Acer","tree "\n', "2,Acer palmatum,\n"]);
  });

  it("leaves its place to others when it cannot begin", async () => {
    const data = temporaryFolder();
    const own = await startTestService({ data });
    const [database, elsewhere] = [join(data, "plants.db"), join(data, "elsewhere")];
    renameSync(database, elsewhere);
    const ask = async () => (await own.request("/plants/export")).text();
    const lost = `"error":${CATALOGUE.store_unavailable.error}`;
    await until("the loss is noticed", async () => (await ask()).includes(lost));
    for (let asked = 0; asked < 20; asked += 1) expect(await ask()).toContain(lost);
    renameSync(elsewhere, database);
    await until("it exports again", async () => (await ask()) === "");
    // Nor does one that no one reads.
    for (let asked = 0; asked < 20; asked += 1) expect((await own.request("/plants/export", { method: "HEAD" })).status).toBe(200);
    await own.stop();
  });

  const NDJSON =
    '{"id":-9223372036854775808,"name":"least"}\n{"id":1,"name":"a, \\"b\\"","tag":""}\n{"id":9223372036854775807,"name":"","tag":"x"}\n';
  const rows = '-9223372036854775808,least,\n1,"a, ""b""",""\n9223372036854775807,"",x\n';
  const own = startTestService();
  beforeAll(async () => expect(await importAll(NDJSON, { on: await own })).toEqual(clean({ read: 3, created: 3 })));
  afterAll(async () => (await own).stop());

  const PLAIN = `id,name,tag\n${rows}`;
  const DWC = `catalogNumber,scientificName,tag\n${rows}`;
  for (const { query, accept, text, form, why } of [
    { query: "", accept: "*/*", text: NDJSON, form: "ndjson", why: "NDJSON if nothing is asked for" },
    { query: "", accept: "text/csv", text: PLAIN, form: "csv", why: "CSV if it is accepted" },
    { query: "?format=csv", accept: "*/*", text: PLAIN, form: "csv", why: "CSV if it is asked for" },
    { query: "?format=csv", accept: "application/x-ndjson", text: PLAIN, form: "csv", why: "CSV even if NDJSON is accepted" },
    { query: "?format=ndjson", accept: "text/csv", text: NDJSON, form: "ndjson", why: "NDJSON even if CSV is accepted" },
    { query: "?profile=dwc&format=csv", accept: "*/*", text: DWC, form: "csv", why: "the terms of Darwin Core as CSV" },
    { query: "?profile=dwc", accept: "*/*", text: DWC, form: "csv", why: "CSV if only the terms of Darwin Core are asked for" },
  ]) {
    it(`is ${why}, and names the file`, async () => {
      const response = await (await own).request(`/plants/export${query}`, { headers: { accept } });
      expect(response.headers.get("vary")).toBe("Accept, Accept-Encoding");
      expect(response.headers.get("content-disposition")).toBe(`attachment; filename="plants.${form}"`);
      expect(response.headers.get("content-type")).toBe(
        form === "csv" ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson",
      );
      expect(await expectConform(EXPORT, response)).toBe(text);
    });
  }

  for (const { query, lastId } of [
    { query: "", lastId: "9223372036854775807" },
    { query: "?format=csv&profile=dwc", lastId: "9223372036854775807" },
    { query: "?tag=", lastId: "1" },
    { query: "?tag=none", lastId: null },
    { query: "?untagged=true", lastId: "-9223372036854775808" },
    { query: "?q=a+b", lastId: "1" },
  ]) {
    it(`names its last plant before it begins, with ${query || "no query"}: ${lastId ?? "none"}`, async () => {
      const response = await (await own).request(`/plants/export${query}`);
      expect(response.headers.get("x-last-id")).toBe(lastId);
      await expectConform(EXPORT, response);
    });
  }

  it("names no last plant if the last 20,000 do not match, but has it", async () => {
    const large = await startTestService();
    const plants = ["rare", ...Array.from({ length: 20_000 }, () => "frequent")].map(
      (name, at) => `{"id":${at + 1},"name":"${name}","tag":"x"}\n`,
    );
    expect(await importAll(plants.join(""), { on: large })).toEqual(clean({ read: 20_001, created: 20_001 }));
    const named = async (q: string) => (await large.request(`/plants/export?q=${q}`, { method: "HEAD" })).headers.get("x-last-id");
    expect([await named("frequent"), await named("rare")]).toEqual(["20001", null]);
    expect(await exportAll({ query: "?q=rare", on: large })).toBe(plants[0]!);
    await large.request("/plants/20001", { method: "DELETE" });
    expect(await named("rare")).toBe("1");
    await large.stop();
  });

  it("is empty if the store is, but for the first line of CSV", async () => {
    const empty = await startTestService();
    expect(await exportAll({ on: empty })).toBe("");
    expect(await exportAll({ on: empty, query: "?format=csv" })).toBe("id,name,tag\n");
    await empty.stop();
  });
});

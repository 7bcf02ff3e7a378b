import { afterAll, describe, expect, it } from "bun:test";
import { chooseCoding } from "../../src/http/accept.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

describe("an export with Accept", () => {
  for (const [accept, type] of [
    ["text/csv", "text/csv"],
    ["text/*", "text/csv"],
    ['text/csv ; charset="UTF-8" ; header=present', "text/csv"],
    ["*/*, text/csv", "text/csv"],
    ["text/csv;q=0.001, application/x-ndjson;q=0", "text/csv"],
    ["text/csv;q=0.8, application/x-ndjson;q=0.79", "text/csv"],
    ["text/csv ; Q = 0.8, application/x-ndjson ; q=.9", "application/x-ndjson"],
    ["text/csv, application/x-ndjson", "application/x-ndjson"],
    ["text/csv;q=0, */*", "application/x-ndjson"],
    ["application/x-ndjson;q=0, */*;q=0.1", "text/csv"],
    ["text/*;q=0.9, text/csv;q=0, */*;q=0.1", "application/x-ndjson"],
    ["application/*, text/csv;q=0.9", "application/x-ndjson"],
    ["text/csvx, */*;q=0.1", "application/x-ndjson"],
    ["text/csv;q=x", "application/x-ndjson"],
    ["text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "application/x-ndjson"],
    [",, ,", "application/x-ndjson"],
    ["", "application/x-ndjson"],
  ] as const) {
    it(`${JSON.stringify(accept)} is ${type}, and Vary names Accept`, async () => {
      const response = await service.request("/plants/export", { headers: { accept } });
      expect(response.headers.get("content-type")).toStartWith(type);
      expect(response.headers.get("vary")).toContain("Accept");
      // Few exports may run at a time, and an unread one runs.
      await response.arrayBuffer();
    });
  }
});

describe("Accept-Encoding", () => {
  for (const [accepted, coding] of [
    [null, "identity"],
    ["", "identity"],
    ["GZip ; Q=0.5", "gzip"],
    ["gzip, deflate, br, zstd", "zstd"],
    ["zstd;q=0.1, gzip", "gzip"],
    ["*", "gzip"],
    ["gzip;q=0, *", "identity"],
    ["zstd;q=0.5, *;q=0.1", "zstd"],
    ["*, zstd;q=0", "gzip"],
    ["gzip;q=0.5, identity", "identity"],
    ["gzip;q=0.1, *;q=0", "gzip"],
    ["identity;q=0, *;q=0", "identity"],
    ["gzip;q=2", "gzip"],
    ["gzip;q=nonsense", "identity"],
    ["zstd; q=0.001 , identity;q=0", "zstd"],
    ['"gzip', "identity"],
  ] as const) {
    it(`${JSON.stringify(accepted)} asks for ${coding} if zstd and gzip are available`, () => {
      expect(chooseCoding(accepted, ["zstd", "gzip"])).toBe(coding);
    });
  }
});

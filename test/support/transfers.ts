import { expect } from "bun:test";
import type { ImportSummary } from "../../src/files/import.ts";
import { expectConform } from "./conform.ts";
import type { TestService } from "./service.ts";

export const IMPORT = { method: "post", path: "/plants/import" };
export const EXPORT = { method: "get", path: "/plants/export" };

type Sent = Readonly<{ type?: string; query?: string; headers?: Record<string, string>; on?: TestService }>;

/** Imports and exports of a service; of another one with `on`. */
export function openTransfers(service: TestService) {
  function post(
    body: string | Uint8Array,
    { type = "application/x-ndjson", query = "", headers = {}, on = service }: Sent = {},
  ): Promise<Response> {
    // As bytes, so that no Content-Type but ours is sent.
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    return on.request(`/plants/import${query}`, { method: "POST", body: bytes, headers: { "content-type": type, ...headers } });
  }

  /** Its summary without the id of the import, which is another one each time. */
  async function importAll(body: string | Uint8Array, sent: Sent = {}): Promise<ImportSummary> {
    const { import: _id, ...summary } = await summaryOf(await post(body, sent));
    return summary;
  }

  async function exportAll({
    query = "",
    accept = "*/*",
    on = service,
  }: { query?: string; accept?: string; on?: TestService } = {}): Promise<string> {
    const response = await on.request(`/plants/export${query}`, { headers: { accept } });
    expect(response.status).toBe(200);
    return (await expectConform(EXPORT, response)) as string;
  }

  /** What the service, which was empty, holds after the import of this, as NDJSON. */
  async function storedFrom(body: string | Uint8Array, sent: Sent = {}): Promise<{ summary: ImportSummary; stored: string }> {
    const summary = await importAll(body, sent);
    return { summary, stored: await empty() };
  }

  /** What the service held, as NDJSON. It is empty then: to start one for each case takes too long. */
  async function empty(): Promise<string> {
    const stored = await exportAll();
    await Promise.all(Array.from(stored.matchAll(/"id":(-?\d+)/g), ([, id]) => service.request(`/plants/${id}`, { method: "DELETE" })));
    expect(await exportAll()).toBe("");
    return stored;
  }

  return { post, importAll, exportAll, storedFrom, empty };
}

async function summaryOf(response: Response): Promise<ImportSummary> {
  expect(response.status).toBe(200);
  const summary = (await expectConform(IMPORT, response)) as ImportSummary;
  const { read, created, unchanged, replaced, refused } = summary;
  expect(created + unchanged + replaced + refused).toBe(read);
  return summary;
}

/** A summary without problems. */
export function clean(counts: Partial<ImportSummary>): ImportSummary {
  return { read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0, problems: [], unusedColumns: [], ...counts };
}

export function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

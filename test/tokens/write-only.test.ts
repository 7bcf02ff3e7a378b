import { afterAll, beforeEach, describe, expect, it } from "bun:test";
import { expectConform } from "../support/conform.ts";
import { startTestService } from "../support/service.ts";

// Who may only write learns nothing of a plant but whether it is there, and whether it is what they sent.

const service = await startTestService();
afterAll(() => service.stop());

const init = { method: "POST", body: '{"name":"writer","scopes":["plants:write"]}', headers: { "content-type": "application/json" } };
const { token } = (await (await service.request("/tokens", init)).json()) as { token: string };

const STORED = '{"id":7,"name":"Secret name","tag":"hidden tag"}';
const OTHER_CHANGE = '{"changes":[{"id":7,"from":{"name":"Other"},"to":null}]}';
let etag = "";

beforeEach(async () => {
  etag = (await service.request("/plants/7", { method: "PUT", body: STORED, headers: { "content-type": "application/json" } })).headers.get(
    "etag",
  )!;
});

type Sent = Readonly<{ method: string; path?: string; body?: string; type?: string; headers?: Record<string, string> }>;

function send({ method, path = "/plants/7", body, type = "application/json", headers = {} }: Sent): Promise<Response> {
  const given = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": type }), ...headers };
  return service.request(path, { method, headers: given, ...(body === undefined ? {} : { body }) });
}

/** The status, the headers and the body, without anything that is stored but was not sent. */
async function expectSecret(response: Response): Promise<string> {
  const text = [response.status, ...response.headers, await response.text()].join("\n");
  for (const secret of ["Secret", "hidden", etag]) expect(text).not.toContain(secret);
  return text;
}

describe("a token that may only write", () => {
  for (const { what, status, ...sent } of [
    { what: "a read", status: 403, method: "GET" },
    { what: "a patch of nothing", status: 403, method: "PATCH", body: "{}" },
    { what: "a patch of the name", status: 403, method: "PATCH", body: '{"name":"Mine"}' },
    { what: "a patch of the tag", status: 403, method: "PATCH", body: '{"tag":null}' },
    { what: "a patch of the tag of no plant", status: 403, method: "PATCH", path: "/plants/8", body: '{"tag":null}' },
    { what: "a patch of both", status: 200, method: "PATCH", body: '{"name":"Mine","tag":null}' },
    { what: "a replacement", status: 200, method: "PUT", body: '{"name":"Mine"}' },
    { what: "a replacement of another state", status: 412, method: "PUT", body: '{"name":"Mine"}', headers: { "if-match": '"x"' } },
    { what: "a creation where there is one", status: 412, method: "PUT", body: '{"name":"M"}', headers: { "if-none-match": "*" } },
    { what: "a create of its id", status: 409, method: "POST", path: "/plants", body: '{"id":7,"name":"Mine"}' },
    { what: "a deletion", status: 204, method: "DELETE" },
    { what: "a change of what it is not", status: 200, method: "POST", path: "/plants/changes", body: OTHER_CHANGE },
    { what: "an import of its id", status: 200, method: "POST", path: "/plants/import", type: "text/csv", body: "id,name\n7,Mine\n" },
    { what: "a dry run", status: 200, method: "POST", path: "/plants/import?dryRun=true", type: "text/csv", body: "id,name\n7,Mine\n" },
    {
      what: "a dry run that would replace",
      status: 200,
      method: "POST",
      path: "/plants/import?dryRun=true&onConflict=replace",
      type: "text/csv",
      body: "id,name\n7,Mine\n",
    },
  ]) {
    it(`is not shown a plant by ${what}`, async () => {
      const response = await send(sent);
      expect(response.status).toBe(status);
      await expectSecret(response);
    });
  }

  it("changes nothing by a patch that is refused, and is told why", async () => {
    const response = await send({ method: "PATCH", body: '{"tag":"mine"}' });
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="plant-store", error="insufficient_scope", scope="plants:read"');
    expect(await expectConform({ method: "PATCH", path: "/plants/{id}" }, response)).toEqual({
      error: 40300,
      message: "The token lacks the scope plants:read, and the answer would show what the patch leaves out: send both `name` and `tag`.",
    });
    expect(await (await service.request("/plants/7")).text()).toBe(STORED);
  });
});

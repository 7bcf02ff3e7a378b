import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { plantBugs } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import type { ServiceProcess } from "../support/process.ts";
import { partsOf } from "../support/random.ts";
import { readToken } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** No bug: the contract of this copy has plants read at `/plants/{id}/photos`, and changed at `/plants/{id}`. */
const EDITS = [
  { file: "contract/openapi.yaml", from: "\n  /plants/{id}:\n", to: "\n  /plants/{id}/photos:\n" },
  { file: "contract/openapi.yaml", from: "\n    put:\n", to: "\n  /plants/{id}:\n    put:\n" },
];

let service: ServiceProcess;
let authorization: string;
beforeAll(async () => {
  const root = plantBugs(EDITS);
  expect(spawnSync(process.execPath, [join(root, "contract/generator/generate.ts")], { encoding: "utf8" }).stderr).toBe("");
  const data = temporaryFolder();
  service = await startProcess({ data, root, flags: PATIENT });
  authorization = `Bearer ${await readToken(data)}`;
});
afterAll(() => service.end("SIGTERM"));

function ask(method: string, path: string, body?: string): Promise<Response> {
  return fetch(`${service.url}${path}`, { method, headers: { authorization }, ...(body === undefined ? {} : { body }) });
}

describe("an id in the middle of a path", () => {
  for (const id of ["7", "0", "-1", "9223372036854775807", "-9223372036854775808"]) {
    it(`names the resource, beside the one that ends in an id: ${id}`, async () => {
      expect((await ask("PUT", `/plants/${id}`, '{"name":"Acer"}')).status).toBe(201);
      const found = await ask("GET", `/plants/${id}/photos`);
      expect([found.status, await found.text()]).toEqual([200, `{"id":${id},"name":"Acer"}`]);
      const head = await ask("HEAD", `/plants/${id}/photos`);
      expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", found.headers.get("etag")]);
      expect((await ask("DELETE", `/plants/${id}`)).status).toBe(204);
      expect(await (await ask("GET", `/plants/${id}/photos`)).json()).toMatchObject({ error: 40401 });
    });
  }

  it("answers OPTIONS and a method that is not there with its own methods", async () => {
    const options = await ask("OPTIONS", "/plants/7/photos");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    const post = await ask("POST", "/plants/7/photos", "{}");
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    const get = await ask("GET", "/plants/7");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "DELETE, OPTIONS, PATCH, PUT"]);
  });

  it("is the same when its path has letters in percent-encoding", async () => {
    expect((await ask("PUT", "/plants/12", '{"name":"Acer"}')).status).toBe(201);
    for (const path of ["/plants/1%32/photos", "/plants/12/%70hotos"])
      expect(await (await ask("GET", path)).json()).toEqual({ id: 12, name: "Acer" });
  });

  for (const path of partsOf(`/plants/07/photos|/plants/-0/photos|/plants/x/photos|/plants/9223372036854775808/photos|/plants/7%2Fphotos|/plants/7/Photos|
    /plants/7/photos/|/plants//photos|/plants/photos|/plants/7/8/photos|/plants/7/photos/photos|/plants/7//photos|/tokens/7/photos`)) {
    it(`finds nothing at ${path}`, async () => {
      const response = await ask("GET", path);
      expect([response.status, await response.json()]).toMatchObject([404, { error: 40400 }]);
    });
  }
});

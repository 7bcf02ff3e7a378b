import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();

/**
 * A proxy that serves the service under a path, which it strips, and that marks tags as weak, as a compressing one
 * does.
 */
const proxy = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (!pathname.startsWith("/my/store/")) return new Response("<html>Not here</html>", { status: 404 });
    const response = await fetch(`${service.url}${pathname.slice("/my/store".length)}${search}`, request);
    const etag = response.headers.get("etag");
    if (etag !== null) response.headers.set("etag", `W/${etag}`);
    return response;
  },
});
afterAll(() => Promise.all([proxy.stop(true), service.stop()]));

describe("behind a proxy that serves the service under a path, the client", () => {
  for (const path of ["my/store", "my/store/"]) {
    it(`works with a url that ends in ${path}, across pages, and with tags that the proxy made weak`, async () => {
      const plants = createClient({ url: `${proxy.url.href}${path}`, token: service.token });
      for (const id of [1n, 2n, 3n]) await plants.create({ id, name: "Ficus", tag: "x y" });
      const { etag } = (await plants.find(2n))!;
      await plants.patch(2n, { name: "Ficus carica" }, { ifMatch: etag });
      const listed = await Array.fromAsync(plants.list({ limit: 1, tag: "x y" }));
      expect(listed.map(({ id, name }) => `${id} ${name}`)).toEqual(["1 Ficus", "2 Ficus carica", "3 Ficus"]);
      for (const id of [1n, 2n, 3n]) await plants.remove(id);
    });
  }
});

describe("createClient", () => {
  it("refuses what is no base of HTTP addresses", () => {
    for (const url of ["plants.example", "ftp://plants.example", "http://anna:secret@plants.example", "http://plants.example/?a=b", ""])
      expect(() => createClient({ url, token: "t" }), url).toThrow(TypeError);
  });

  it("lets a program end whose token no header can hold", () => {
    const script = `
      import { createClient } from ${JSON.stringify(join(PROJECT, "src/client/client.ts"))};
      const plants = createClient({ url: "http://plants.example", token: "a\\nb", tryTimeoutMs: 1e9, timeoutMs: 1e9 });
      await plants.find(1n).catch((thrown) => console.log(thrown.name));
    `;
    const { stdout, status } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", timeout: 10_000 });
    expect([stdout, status]).toEqual(["TypeError\n", 0]);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

const [service, other] = await Promise.all([startTestService(), startTestService()]);
afterAll(() => Promise.all([service.stop(), other.stop()]));

/** Runs an example to its end, in its own process. */
async function run(name: string, { words = [], environment = {} }: { words?: string[]; environment?: Record<string, string> } = {}) {
  const env = { ...process.env, PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token, ...environment };
  const child = Bun.spawn([process.execPath, join(PROJECT, "examples", name), ...words], { env, stdout: "pipe", stderr: "inherit" });
  const output = await new Response(child.stdout).text();
  return { output, status: await child.exited };
}

// In Node, in a project that has only the client: published.night.ts.
describe("the example", () => {
  it("add-and-find finds what it added, the second time too", async () => {
    for (let times = 0; times < 2; times += 1) {
      expect(await run("add-and-find.ts")).toEqual({
        output: `by id: Monstera adansonii
by tag: 9007199254740993 Monstera adansonii
by tag: 9007199254740994 Ginkgo biloba
by words: 9007199254740993 Monstera adansonii
`,
        status: 0,
      });
    }
  });

  it("rename-safely keeps someone else's change", async () => {
    expect(await run("rename-safely.ts")).toEqual({
      output: `read: Acer palmatum
changed meanwhile: reading it again
read: Acer palmatum Thunb.
stored: Acer palmatum Thunb. 'Bloodgood', maple
`,
      status: 0,
    });
  });

  it("backup-and-restore saves every plant, and restores them into another service", async () => {
    await service.post('{"id":-9223372036854775808,"name":"Ginkgo\\nbiloba"}');
    await other.post('{"id":9007199254740995,"name":"Acer","tag":"old"}');
    const path = join(temporaryFolder(), "plants.backup");
    const environment = { RESTORE_URL: other.url, RESTORE_TOKEN: other.token };
    const { output, status } = await run("backup-and-restore.ts", { words: [path], environment });
    expect([output, status]).toEqual([`saved: ${path}\nrestored: 3 new, 1 replaced, 0 unchanged, 0 refused\n`, 0]);

    const exports = await Promise.all([service, other].map(async ({ request }) => (await request("/plants/export")).text()));
    expect(exports).toEqual([readFileSync(path, "utf8"), readFileSync(path, "utf8")]);
    expect(exports[0]).toStartWith('{"id":-9223372036854775808,"name":"Ginkgo\\nbiloba"}\n');
  });
});

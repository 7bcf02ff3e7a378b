// What CI says of known weaknesses, with a registry of the test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { PROJECT } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NAME = "cli-progress";
const VERSION = manifest.dependencies[NAME];
const PACKAGE = { name: NAME, "dist-tags": { latest: VERSION }, versions: { [VERSION]: { name: NAME, version: VERSION } } };

const servers: Bun.Server<undefined>[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

function startRegistry(answer: () => Response): string {
  // npm also asks which versions of the package have the weakness.
  const fetch = ({ method }: Request) => (method === "POST" ? answer() : Response.json(PACKAGE));
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  servers.push(server);
  return server.url.href;
}

async function audit(registry: string): Promise<Readonly<{ code: number; lines: readonly string[] }>> {
  // npm remembers advisories in its cache.
  const npm = { npm_config_registry: registry, npm_config_cache: temporaryFolder(), npm_config_fetch_retry_mintimeout: "1" };
  const env = { ...process.env, ...npm };
  const child = spawn(process.execPath, [join(PROJECT, ".ci/advisories.ts")], { cwd: PROJECT, env, stdio: ["ignore", "pipe", "inherit"] });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "close") as Promise<[number]>]);
  return { code, lines: printed.trim().split("\n") };
}

function advisory(severity: string): Response {
  return Response.json({ [NAME]: [{ id: 1, url: "http://127.0.0.1/1", title: "Bad", severity, vulnerable_versions: ">=1.0.0" }] });
}

describe("the audit of dependencies", () => {
  const [passed, failed, skipped] = ["1 checks passed, 0 failed", "0 checks passed, 1 failed", "0 checks passed, 0 failed"];
  const html = { headers: { "content-type": "text/html" } };
  for (const [why, answer, code, first, last] of [
    ["nothing is known", () => Response.json({}), 0, /^ok .*, 0 with/, passed],
    ["a weakness is moderate", () => advisory("moderate"), 0, /^ok .*, 1 with/, passed],
    ["a weakness is high", () => advisory("high"), 1, /^FAILED .*, 1 with/, failed],
    ["a weakness is critical", () => advisory("critical"), 1, /^FAILED /, failed],
    ["the registry has no advisories", () => new Response(null, { status: 405 }), 0, /^SKIPPED .*did not answer \(405 Method/, skipped],
    ["the registry answers something else", () => new Response("<html>", html), 0, /^SKIPPED /, skipped],
  ] as const)
    it(`ends with ${code} when ${why}`, async () => {
      const { code: ended, lines } = await audit(startRegistry(answer));
      expect([ended, lines[0], lines.at(-1)]).toEqual([code, expect.stringMatching(first), last]);
      if (code === 1) expect(lines[1]).toMatch(/^ +(?:high|critical): cli-progress /);
    });

  it("ends with 0, and says so, when nothing listens", async () => {
    const { code, lines } = await audit("http://127.0.0.1:9/");
    expect([code, lines[0]]).toEqual([0, expect.stringMatching(/^SKIPPED .*did not answer \(.*ECONNREFUSED/)]);
  });
});

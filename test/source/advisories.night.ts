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
  for (const { why, answer, code, first, last } of [
    { why: "nothing is known", answer: () => Response.json({}), code: 0, first: /^ok .*, 0 with/, last: "1 checks passed, 0 failed" },
    {
      why: "a weakness is moderate",
      answer: () => advisory("moderate"),
      code: 0,
      first: /^ok .*, 1 with/,
      last: "1 checks passed, 0 failed",
    },
    { why: "a weakness is high", answer: () => advisory("high"), code: 1, first: /^FAILED .*, 1 with/, last: "0 checks passed, 1 failed" },
    { why: "one is critical", answer: () => advisory("critical"), code: 1, first: /^FAILED /, last: "0 checks passed, 1 failed" },
    {
      why: "the registry has no advisories",
      answer: () => new Response(null, { status: 405 }),
      code: 0,
      first: /^SKIPPED .*the registry did not answer \(405 Method Not Allowed/,
      last: "0 checks passed, 0 failed",
    },
    {
      why: "the registry answers something else",
      answer: () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      code: 0,
      first: /^SKIPPED /,
      last: "0 checks passed, 0 failed",
    },
  ])
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

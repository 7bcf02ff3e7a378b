import { randomBytes } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { createToken } from "../../src/auth/secret.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { runCommand, startProcess } from "../support/process.ts";
import { readToken, startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const ALL = ["plants:read", "plants:write", "admin"];

/** Creates a token with the first one. */
async function make(service: TestService, scopes: readonly string[]): Promise<{ id: string; token: string }> {
  const response = await service.request("/tokens", { method: "POST", body: JSON.stringify({ name: "mine", scopes }) });
  return (await response.json()) as { id: string; token: string };
}

async function statusWith(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${token}` } })).status;
}

function waitUntilGone(path: string): Promise<void> {
  return until("The file is gone", () => !existsSync(path));
}

function eventsIn(lines: readonly string[]): Record<string, unknown>[] {
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("the first token", () => {
  it("ends once with the first use of another token with all scopes, and then loses its file; what it created stays", async () => {
    const data = temporaryFolder();
    const service = await startTestService({ data });
    const file = join(data, "first-token");
    expect(service.tokenFile).toBe(file);
    const { token: reader } = await make(service, ["plants:read"]);
    const { token: helper } = await make(service, ["plants:read", "admin"]);
    const { id, token: mine } = await make(service, ALL);
    expect([await statusWith(service.url, reader), await statusWith(service.url, helper)]).toEqual([200, 200]);
    expect(existsSync(file)).toBe(true);
    expect(await statusWith(service.url, mine)).toBe(200);
    await waitUntilGone(file);
    await Bun.sleep(600);
    expect(await statusWith(service.url, service.token)).toBe(401);
    expect([await statusWith(service.url, reader), await statusWith(service.url, mine)]).toEqual([200, 200]);
    expect(eventsIn(service.logged)).toContainEqual(expect.objectContaining({ level: "info", event: "first_token_retired", by: id }));
    await service.stop();
    const again = await startTestService({ data });
    expect([again.tokenFile, again.firstToken]).toEqual([undefined, undefined]);
    expect(existsSync(file)).toBe(false);
    expect(await statusWith(again.url, mine)).toBe(200);
    await Bun.sleep(600);
    expect(eventsIn(again.logged)).not.toContainEqual(expect.objectContaining({ event: "first_token_retired" }));
    await again.stop();
  });

  it("loses its file when it is revoked over HTTP", async () => {
    const service = await startTestService();
    expect((await service.request("/tokens/first", { method: "DELETE" })).status).toBe(204);
    expect(existsSync(service.tokenFile!)).toBe(false);
    await service.stop();
  });
});

describe("the file of the first token", () => {
  it("is removed by the next start if the service ended between revocation and removal", async () => {
    const data = temporaryFolder();
    const kill = {
      file: "src/auth/first-token.ts",
      from: 'log.info("first_token_retired"',
      to: 'process.kill(process.pid, "SIGKILL"); log.info("first_token_retired"',
    };
    const broken = await startProcess({ data, root: plantBugs([kill]) });
    const first = await readToken(data);
    const mine = (await runCommand(["token", "create", "--admin", "--name", "mine", "--data", data])).stdout.trim();
    await statusWith(broken.url, mine).catch(() => {});
    await broken.exited;
    expect(existsSync(join(data, "first-token"))).toBe(true);
    const service = await startProcess({ data });
    expect(service.started["tokenFile"]).toBeUndefined();
    expect(existsSync(join(data, "first-token"))).toBe(false);
    expect([await statusWith(service.url, first), await statusWith(service.url, mine)]).toEqual([401, 200]);
    await service.end("SIGTERM");
  });

  it("gets its file from the next start if the service ended before that had its name, and no other token does", async () => {
    const data = temporaryFolder();
    const file = join(data, "first-token");
    await (await startTestService({ data })).stop();
    renameSync(file, join(data, "elsewhere"));
    writeFileSync(`${file}.other1`, `${createToken(randomBytes)}\n`);
    const without = await startTestService({ data });
    expect([without.tokenFile, existsSync(file)]).toEqual([undefined, false]);
    await without.stop();
    renameSync(join(data, "elsewhere"), `${file}.draft1`);
    const service = await startTestService({ data });
    expect([service.tokenFile, await statusWith(service.url, await readToken(data))]).toEqual([file, 200]);
    await service.stop();
  });

  it("is reported at start, and not offered for use, if its token is not in the store", async () => {
    const data = temporaryFolder();
    const file = join(data, "first-token");
    await (await startTestService({ data })).stop();
    writeFileSync(file, `${createToken(randomBytes)}\n`);
    const service = await startTestService({ data });
    expect(eventsIn(service.logged)).toContainEqual(expect.objectContaining({ level: "warn", event: "first_token_unknown", file }));
    expect([service.tokenFile, existsSync(file)]).toEqual([undefined, true]);
    await service.stop();
  });
});

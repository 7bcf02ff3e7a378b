import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "bun:test";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { issueToken } from "../../src/auth/issue.ts";
import { createToken, hashToken, hasTokenForm } from "../../src/auth/secret.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { allTokens } from "../../src/store/tokens.ts";
import type { Token } from "../../src/store/tokens.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startTestService } from "../support/service.ts";
import { rejectionOf } from "../support/rejection.ts";

const data = temporaryFolder();
const service = await startTestService({ data });
const { tokens } = service.store;
afterAll(() => service.stop());

describe("a token", () => {
  it("is plant_, 32 random characters and 6 of checksum, and no two are the same", () => {
    const made = Array.from({ length: 1000 }, () => createToken(randomBytes));
    for (const token of made) expect(token).toMatch(/^plant_[0-9A-Za-z]{38}$/);
    expect(made.every(hasTokenForm)).toBe(true);
    expect(new Set(made).size).toBe(1000);
  });

  it("draws every character of its alphabet about as often as any other", () => {
    const counts = new Map<string, number>();
    for (let made = 0; made < 2000; made += 1) {
      for (const character of createToken(randomBytes).slice(6, 38)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    // 64,000 draws over 62 characters: 1,032 each, give or take 32; 200 is more than six deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1032)).toBeLessThan(200);
  });

  it("is stored only as its SHA-256", async () => {
    const { secret: token } = await issueToken({ tokens, random: randomBytes, now: Date.now, name: "test", scopes: ["plants:write"] });
    expect(await tokens.find(hashToken(token))).toMatchObject({ name: "test", scopes: ["plants:write"] });
    const files = ["plants.db", "plants.db-wal"].map((name) => readFileSync(join(data, name)));
    expect(files.some((bytes) => bytes.includes(hashToken(token)))).toBe(true);
    expect(files.some((bytes) => bytes.includes(token))).toBe(false);
  });
});

describe("the authenticator", () => {
  const VALID: Token = { id: "a", name: "a", scopes: ["plants:write"], created: 0 };

  function authenticatorOver(find: (hash: string) => Token | undefined) {
    const asked: string[] = [];
    const clock = { now: 1000 };
    async function findAndNote(hash: string) {
      asked.push(hash);
      return find(hash);
    }
    const store = { ...tokens, find: findAndNote };
    return { asked, clock, authenticator: createAuthenticator({ tokens: store, cacheMax: 100, now: () => clock.now }) };
  }

  it("asks the store once per 500 ms and token, known or not", async () => {
    for (const found of [VALID, undefined]) {
      const { authenticator, asked, clock } = authenticatorOver(() => found);
      const header = `Bearer ${createToken(randomBytes)}`;
      const admit = () =>
        Promise.resolve()
          .then(() => authenticator.authenticate(header))
          .catch(() => {});
      await admit();
      clock.now += 499;
      await admit();
      expect(asked).toHaveLength(1);
      clock.now += 1;
      await admit();
      expect(asked).toHaveLength(2);
    }
  });

  it("refuses a token that expires, or asks again for one that may have been revoked, while the store takes its time", async () => {
    const { authenticator, asked, clock } = authenticatorOver(() => {
      clock.now += 600;
      return { ...VALID, expires: 3000 };
    });
    const header = `Bearer ${createToken(randomBytes)}`;
    for (const count of [1, 2, 3]) {
      await authenticator.authenticate(header);
      expect(asked).toHaveLength(count);
    }
    expect(await rejectionOf(Promise.resolve().then(() => authenticator.authenticate(header)))).toMatchObject({ code: "invalid_token" });
  });

  it("remembers at most cacheMax tokens", async () => {
    const { authenticator, asked } = authenticatorOver(() => VALID);
    const headers = Array.from({ length: 101 }, () => `Bearer ${createToken(randomBytes)}`);
    for (const header of headers) await authenticator.authenticate(header);
    await authenticator.authenticate(headers[100]!);
    expect(asked).toHaveLength(101);
    await authenticator.authenticate(headers[0]!);
    expect(asked).toHaveLength(102);
  });

  it("confirms a token as last seen while the store cannot be reached, until the token expires", async () => {
    let isReached = true;
    const { authenticator, clock } = authenticatorOver(() => {
      if (!isReached) throw new PlantStoreError("store_unavailable");
      return { ...VALID, expires: 3000 };
    });
    const header = `Bearer ${createToken(randomBytes)}`;
    const token = await authenticator.authenticate(header);
    isReached = false;
    clock.now = 2999;
    await authenticator.confirm(header, token);
    clock.now = 3000;
    expect(await rejectionOf(authenticator.confirm(header, token))).toMatchObject({
      code: "invalid_token",
      headers: { connection: "close" },
    });
  });
});

describe("when tokens were used", () => {
  const MINUTE = 60_000;

  it("is written when the service stops", async () => {
    const own = temporaryFolder();
    const first = await startTestService({ data: own });
    expect((await first.request("/plants")).status).toBe(200);
    await first.stop();
    const again = await startTestService({ data: own });
    expect((await Array.fromAsync(allTokens(again.store.tokens)))[0]?.lastUsed).toBeGreaterThan(Date.now() - 2 * MINUTE);
    await again.stop();
  });
});

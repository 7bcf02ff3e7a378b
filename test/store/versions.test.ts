import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { createToken, hashToken } from "../../src/auth/secret.ts";
import { runCheck } from "../support/checked.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { askUntil } from "../support/until.ts";

/** The steps of the tables of SQLite as they were released. This list only grows. */
const RELEASED = [
  `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
   CREATE TABLE tokens (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
     created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
   ) STRICT;`,
  `CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
   CREATE TABLE changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;
   CREATE TABLE bulk_changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;`,
  `ALTER TABLE tokens ADD COLUMN parent TEXT;
   ALTER TABLE tokens ADD COLUMN used INTEGER;
   CREATE INDEX tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL;`,
  `ALTER TABLE changes ADD COLUMN total INTEGER;
   ALTER TABLE bulk_changes ADD COLUMN total INTEGER;
   INSERT INTO changes (ids, total) SELECT x'', count(*) FROM plants HAVING count(*) > 0;`,
  `ALTER TABLE plants ADD COLUMN added INTEGER;`,
] as const;

/** The search index that the last of these had. It says of itself that it has all plants, and it has none. */
const INDEX = `CREATE VIRTUAL TABLE names USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '#'"
  );
  CREATE TABLE words (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE state (build_from INTEGER, changes INTEGER NOT NULL, bulk_changes INTEGER NOT NULL, mark TEXT NOT NULL) STRICT;
  INSERT INTO state VALUES (NULL, 1, 0, '${createHash("sha256").update(Buffer.alloc(8)).digest("hex")} none');
  CREATE TABLE looked_at (word TEXT NOT NULL) STRICT;
  INSERT INTO looked_at VALUES ('');
  PRAGMA user_version = 9;`;

/** Ids as text, as those beyond 2^53 are no numbers of JSON. */
const PLANTS = [
  { id: "-9223372036854775808", name: "Żółty łubin", tag: "ł", q: "zolty" },
  { id: "-1", name: "nul\0byte", tag: null, q: "byte" },
  { id: "0", name: "Œillet des poètes", tag: "נ\u05c1", q: "oeillet" },
  { id: "9007199254740993", name: "ʻŌhiʻa lehua", tag: null, q: "lehua" },
  { id: "9223372036854775807", name: "松 😀", tag: "ł", q: "松" },
] as const;

/** A folder as a version with so many steps left it. Returns the secrets of its tokens. */
function makeStore(data: string, version: number) {
  const secrets = { first: createToken(randomBytes), revoked: createToken(randomBytes), expired: createToken(randomBytes) };
  using db = new DatabaseSync(join(data, "plants.db"));
  db.exec(RELEASED.slice(0, Math.min(version, 3)).join("\n"));
  const token = db.prepare("INSERT INTO tokens (id, name, hash, scopes, created, expires, revoked) VALUES (?, ?, ?, ?, 1, ?, ?)");
  token.run("first", "first", hashToken(secrets.first), "plants:read plants:write admin", null, null);
  token.run("two", "revoked", hashToken(secrets.revoked), "plants:read", null, 2);
  token.run("three", "expired", hashToken(secrets.expired), "plants:read", 2, null);
  const plant = db.prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)");
  for (const { id, name, tag } of PLANTS) plant.run(BigInt(id), name, tag);
  if (version > 1) db.exec("INSERT INTO changes (ids) VALUES (x'0000000000000000')");
  db.exec(RELEASED.slice(3, version).join("\n"));
  db.exec(`PRAGMA application_id = 0x706c6e74; PRAGMA user_version = ${version}`);
  using index = new DatabaseSync(join(data, "plants.db.search"));
  if (version === RELEASED.length) index.exec(INDEX);
  writeFileSync(join(data, "first-token"), `${secrets.first}\n`, { mode: 0o600 });
  return secrets;
}

function tablesOf(data: string): unknown[] {
  using db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  return [db.prepare("PRAGMA user_version").get(), ...db.prepare("SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name").all()];
}

const empty = temporaryFolder();
await (await startTestService({ data: empty })).stop();

describe("a store on SQLite that a version before has left", () => {
  it.concurrent.each(RELEASED.map((_, at) => at + 1))(
    "is served whole with %d steps of its tables, and is like a new one",
    async (version) => {
      const data = temporaryFolder();
      const secrets = makeStore(data, version);
      const service = await startTestService({ data });
      const read = async (path: string) => (await service.request(path)).text();
      const lines = PLANTS.map(
        ({ id, name, tag }) => `{"id":${id},"name":${JSON.stringify(name)}${tag === null ? "" : `,"tag":"${tag}"`}}`,
      );
      expect(await read("/plants/export")).toBe(`${lines.join("\n")}\n`);
      expect(await read("/plants/count")).toBe('{"plants":5,"precision":"exact"}');
      await askUntil(
        async () => (await service.request("/plants?q=lehua")).status,
        (status) => status === 200,
      );
      for (const [at, { q }] of PLANTS.entries()) expect(await read(`/plants?q=${encodeURIComponent(q)}`)).toBe(`[${lines[at]}]`);
      for (const [query, at] of [
        ["tag=%C5%82", [0, 4]],
        ["tag=%C5%82&sort=-id", [4, 0]],
        ["tag=%D7%A0%D7%81", [2]],
        ["untagged=true", [1, 3]],
      ] as const) {
        expect(await read(`/plants?${query}`)).toBe(`[${at.map((of) => lines[of]).join()}]`);
        expect(await read(`/plants/count?${query.replace("&sort=-id", "")}`)).toBe(`{"plants":${at.length},"precision":"exact"}`);
      }
      expect(await read("/tags")).toBe('[{"tag":"ł","plants":2},{"tag":"נ\u05c1","plants":1}]');
      await service.post('{"id":7,"name":"Newest"}');
      expect(await read("/plants?sort=newest&limit=1")).toBe('[{"id":7,"name":"Newest"}]');
      const statuses = Object.values(secrets).map((token) =>
        service.request("/session", { headers: { authorization: `Bearer ${token}` } }),
      );
      expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 401, 401]);
      await service.stop();
      expect(tablesOf(data)).toEqual(tablesOf(empty));
      expect(JSON.stringify(tablesOf(data))).not.toContain("plants_by_tag");
      expect(await runCheck(["--data", data])).toMatchObject({ status: 0, stdout: expect.not.stringMatching(/^(?!ok|$)/m) });
    },
  );
});

it("a store that an import has filled, and from which all was deleted, has no plants after the upgrade", async () => {
  const data = temporaryFolder();
  makeStore(data, RELEASED.length);
  {
    using db = new DatabaseSync(join(data, "plants.db"));
    db.exec("DELETE FROM plants; UPDATE changes SET total = -5; INSERT INTO bulk_changes (ids, total) VALUES (x'0000000000000000', 5)");
  }
  const service = await startTestService({ data });
  expect(await (await service.request("/plants/count")).text()).toBe('{"plants":0,"precision":"exact"}');
  await service.stop();
});

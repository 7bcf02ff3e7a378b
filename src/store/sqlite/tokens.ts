import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "../group-commit.ts";
import { queuedChanges, toToken, USE_AHEAD_MS_MAX } from "../tokens.ts";
import type { TokenStore, StoredRow, Token, TokenChange, TokenOutcome, TokenQuery, TokenRow } from "../tokens.ts";
import type { StoredToken } from "../contents.ts";
import { translated } from "./engine/failure.ts";
import { prepareBigInts } from "./engine/requirements.ts";

type TokensOptions = Readonly<{
  reader: ReturnType<typeof prepareTokenReads>;
  /** Changes of tokens share their commits with those of plants. */
  changes: Pick<GroupCommit, "changeToken">;
}>;

export function createTokens({ reader, changes }: TokensOptions): TokenStore {
  return {
    ...queuedChanges(changes.changeToken),
    find: async (hash) => translated(() => reader.find(hash)),
    list: async (query) => translated(() => reader.list(query)),
    names: async (ids) => translated(() => reader.names(ids)),
  };
}

const COLUMNS = "id, name, scopes, created, expires, revoked, parent, used";

export function prepareTokenReads(db: DatabaseSync) {
  const byHash = prepareBigInts(db, `SELECT ${COLUMNS} FROM tokens WHERE hash = ?`);
  const all = prepareBigInts(db, `SELECT ${COLUMNS}, hash FROM tokens ORDER BY created, id`);
  const first = prepareBigInts(db, `SELECT ${COLUMNS} FROM tokens ORDER BY created, id LIMIT ?`);
  const behind = prepareBigInts(
    db,
    `SELECT ${COLUMNS} FROM tokens WHERE (created, id) > (SELECT created, id FROM tokens WHERE id = ?) ORDER BY created, id LIMIT ?`,
  );
  const isThere = db.prepare("SELECT 1 FROM tokens WHERE id = ?");
  const nameOf = db.prepare("SELECT name FROM tokens WHERE id = ?");
  const listRows = () => all.all() as StoredRow[];
  return {
    find(hash: string): Token | undefined {
      const row = byHash.get(hash) as TokenRow | undefined;
      return row && toToken(row);
    },
    list({ after, limit }: TokenQuery): Token[] | undefined {
      if (after !== undefined && !isThere.get(after)) return undefined;
      const rows = after === undefined ? first.all(limit) : behind.all(after, limit);
      return (rows as TokenRow[]).map(toToken);
    },
    names: (ids: readonly string[]) => new Map(ids.flatMap((id) => nameOf.all(id).map(({ name }) => [id, String(name)] as const))),
    listStored: (): StoredToken[] => listRows().map((row) => ({ token: toToken(row), hash: row.hash })),
    /** As they are stored, whatever that is. */
    listRows,
  };
}

/** Writes tokens. Call it inside a transaction of the writer. */
export function prepareTokenWrites(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO tokens (id, name, hash, scopes, created, expires, revoked, parent, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
  );
  const find = prepareBigInts(db, "SELECT revoked FROM tokens WHERE id = ?");
  const revoke = db.prepare("UPDATE tokens SET revoked = ? WHERE revoked IS NULL AND id = ? RETURNING id");
  // UNION, unlike UNION ALL, ends even if parents form a circle.
  const revokeChildren = db.prepare(
    `UPDATE tokens SET revoked = ? WHERE revoked IS NULL AND id IN (
      WITH RECURSIVE family (id) AS (
        SELECT id FROM tokens WHERE parent = ? UNION SELECT tokens.id FROM tokens JOIN family ON tokens.parent = family.id
      ) SELECT id FROM family
    ) RETURNING id`,
  );
  const touch = db.prepare("UPDATE tokens SET used = ?1 WHERE id = ?2 AND (used IS NULL OR used NOT BETWEEN ?1 AND ?1 + ?3)");

  function create(token: Token, hash: string): TokenOutcome {
    if (token.parent !== undefined && find.get(token.parent)?.["revoked"] !== null) return "orphaned";
    return put({ token, hash }) ? "created" : "taken";
  }

  /** False if its id or its hash is there already. */
  function put({ token: { id, name, scopes, created, expires, revoked, parent, lastUsed }, hash }: StoredToken): boolean {
    const values = [id, name, hash, scopes.join(" "), created, expires ?? null, revoked ?? null, parent ?? null, lastUsed ?? null];
    return insert.run(...values).changes === 1;
  }

  function revokeFamily({ id, at, cascade }: TokenChange & { kind: "revoke" }): TokenOutcome {
    if (!find.get(id)) return undefined;
    const revoked = [...revoke.all(at, id), ...(cascade ? revokeChildren.all(at, id) : [])];
    return revoked.map((row) => String(row["id"]));
  }

  return {
    put,
    change(change: TokenChange): TokenOutcome {
      if (change.kind === "create") return create(change.token, change.hash);
      if (change.kind === "revoke") return revokeFamily(change);
      change.uses.forEach((at, id) => touch.run(at, id, USE_AHEAD_MS_MAX));
      return undefined;
    },
  };
}

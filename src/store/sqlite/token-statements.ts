import type { DatabaseSync } from "node:sqlite";
import { isScope } from "../../scope.ts";
import type { Token, TokenChange, TokenOutcome } from "../tokens.ts";

type TokenRow = {
  id: string;
  name: string;
  scopes: string;
  created: number;
  expires: number | null;
  revoked: number | null;
  parent: string | null;
  used: number | null;
};

const COLUMNS = "id, name, scopes, created, expires, revoked, parent, used";

export function prepareTokenReads(db: DatabaseSync) {
  const byHash = db.prepare(`SELECT ${COLUMNS} FROM tokens WHERE hash = ?`);
  const all = db.prepare(`SELECT ${COLUMNS} FROM tokens ORDER BY created, id`);
  return {
    find(hash: string): Token | undefined {
      const row = byHash.get(hash) as TokenRow | undefined;
      return row && toToken(row);
    },
    list(): Token[] {
      return (all.all() as TokenRow[]).map(toToken);
    },
  };
}

function toToken({ id, name, scopes, created, expires, revoked, parent, used }: TokenRow): Token {
  return {
    id,
    name,
    scopes: scopes.split(" ").filter(isScope),
    created,
    ...(expires === null ? {} : { expires }),
    ...(revoked === null ? {} : { revoked }),
    ...(parent === null ? {} : { parent }),
    ...(used === null ? {} : { lastUsed: used }),
  };
}

/** Writes tokens. Call it inside a transaction of the writer. */
export function prepareTokenWrites(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO tokens (id, name, hash, scopes, created, expires, revoked, parent, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
  );
  const find = db.prepare("SELECT revoked FROM tokens WHERE id = ?");
  const revoke = db.prepare("UPDATE tokens SET revoked = ? WHERE revoked IS NULL AND id = ? RETURNING id");
  // UNION, unlike UNION ALL, ends even if parents form a circle.
  const revokeChildren = db.prepare(
    `UPDATE tokens SET revoked = ? WHERE revoked IS NULL AND id IN (
      WITH RECURSIVE family (id) AS (
        SELECT id FROM tokens WHERE parent = ? UNION SELECT tokens.id FROM tokens JOIN family ON tokens.parent = family.id
      ) SELECT id FROM family
    ) RETURNING id`,
  );
  const touch = db.prepare("UPDATE tokens SET used = ? WHERE id = ? AND coalesce(used, 0) < ?");

  function create({ id, name, scopes, created, expires, revoked, parent, lastUsed }: Token, hash: string): TokenOutcome {
    if (parent !== undefined && find.get(parent)?.["revoked"] !== null) return "orphaned";
    const values = [id, name, hash, scopes.join(" "), created, expires ?? null, revoked ?? null, parent ?? null, lastUsed ?? null];
    return insert.run(...values).changes === 1 ? "created" : "taken";
  }

  function revokeFamily({ id, at, isKeepingChildren }: TokenChange & { kind: "revoke" }): TokenOutcome {
    if (!find.get(id)) return undefined;
    const revoked = [...revoke.all(at, id), ...(isKeepingChildren ? [] : revokeChildren.all(at, id))];
    return revoked.map((row) => String(row["id"]));
  }

  return {
    change(change: TokenChange): TokenOutcome {
      if (change.kind === "create") return create(change.token, change.hash);
      if (change.kind === "revoke") return revokeFamily(change);
      change.uses.forEach((at, id) => touch.run(at, id, at));
      return undefined;
    },
  };
}

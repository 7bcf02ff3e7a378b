import { DatabaseSync } from "node:sqlite";
import { asPlantId } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import { isScope } from "../../scope.ts";
import type { Token } from "../store.ts";

type PlantRow = { id: bigint; name: string; tag: string | null };
type TokenRow = { id: string; name: string; scopes: string; created: number; expires: number | null; revoked: number | null };

const TOKEN_COLUMNS = "id, name, scopes, created, expires, revoked";

export type Reader = ReturnType<typeof openReader>;

/** A read-only connection, for short reads on the main thread. It sees only what was synced and, being read-only, cannot checkpoint even when it is the last to close. */
export function openReader(path: string) {
  const db = new DatabaseSync(path, { readOnly: true });
  const plant = db.prepare("SELECT id, name, tag FROM plants WHERE id = ?");
  plant.setReadBigInts(true);
  const token = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = ?`);
  const tokens = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created, id`);

  return {
    findPlant(id: PlantId): NewPlant | undefined {
      const row = plant.get(id) as PlantRow | undefined;
      return row && { id: asPlantId(row.id), name: row.name, ...(row.tag === null ? {} : { tag: row.tag }) };
    },
    findToken(hash: string): Token | undefined {
      const row = token.get(hash) as TokenRow | undefined;
      return row && toToken(row);
    },
    listTokens(): Token[] {
      return (tokens.all() as TokenRow[]).map(toToken);
    },
    close(): void {
      db.close();
    },
  };
}

function toToken({ id, name, scopes, created, expires, revoked }: TokenRow): Token {
  return {
    id,
    name,
    scopes: scopes.split(" ").filter(isScope),
    created,
    ...(expires === null ? {} : { expires }),
    ...(revoked === null ? {} : { revoked }),
  };
}

import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { asPlantId } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import { isScope } from "../../scope.ts";
import { openPage } from "../page.ts";
import type { ListQuery, Page, Token } from "../store.ts";

type PlantRow = { id: bigint; name: string; tag: string | null };
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

const TOKEN_COLUMNS = "id, name, scopes, created, expires, revoked, parent, used";

/** A read-only connection, for short reads on the main thread. It sees only what was synced and, being read-only, cannot checkpoint even when it is the last to close. */
export function openReader(path: string) {
  const db = new DatabaseSync(path, { readOnly: true });
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const plant = readPlants("WHERE id = ?");
  const plants = readPlants("WHERE id > ? ORDER BY id LIMIT ?");
  const firstPlants = readPlants("ORDER BY id LIMIT ?");
  const plantsOfTag = readPlants("WHERE tag = ? AND id > ? ORDER BY id LIMIT ?");
  const firstPlantsOfTag = readPlants("WHERE tag = ? ORDER BY id LIMIT ?");
  const token = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = ?`);
  const tokens = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created, id`);

  function readPlants(condition: string): StatementSync {
    const statement = db.prepare(`SELECT id, name, tag FROM plants ${condition}`);
    statement.setReadBigInts(true);
    return statement;
  }

  function findPlant(id: PlantId): NewPlant | undefined {
    const row = plant.get(id) as PlantRow | undefined;
    return row && toPlant(row);
  }

  return {
    /** The plants with these ids, in their order, all as they are at one moment. */
    findPlants(ids: readonly PlantId[]): Array<NewPlant | undefined> {
      begin.run();
      try {
        return ids.map(findPlant);
      } finally {
        commit.run();
      }
    },
    /** A page of plants, whatever words they hold. */
    listPlants({ after, tag, limit, bytesMax }: ListQuery): Page {
      const [ofTag, firstOfTag] = tag === undefined ? [plants, firstPlants] : [plantsOfTag, firstPlantsOfTag];
      const wanted = tag === undefined ? [] : [tag];
      const page = openPage({ limit, bytesMax });
      const rows = after === undefined ? firstOfTag.iterate(...wanted, limit + 1) : ofTag.iterate(...wanted, after, limit + 1);
      for (const row of rows as Iterable<PlantRow>) if (!page.take(toPlant(row))) break;
      return page.close();
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

function toPlant({ id, name, tag }: PlantRow): NewPlant {
  return tag === null ? { id: asPlantId(id), name } : { id: asPlantId(id), name, tag };
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

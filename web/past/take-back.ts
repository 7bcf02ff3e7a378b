import type { Client, PastQuery, PlantChange } from "../../src/client/client.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";

const PAGE = 1000;

/**
 * Takes an import back: what it added goes, what it replaced is as it was before, unless someone has changed it since. It can be stopped, and
 * done again: what is as it was then needs no change. Resolves with whether nothing was left out.
 */
export async function takeBack({ client, deletions, bulkChanges }: Catalogue, id: string, total: number): Promise<boolean> {
  await deletions.flush();
  const phrases = (plants: string) => ({
    doing: `Taking back ${plants}`,
    done: `Took back ${plants}`,
    kept: `Changed since, and left alone: ${plants}.`,
  });
  return bulkChanges.run({ changes: swapsBack(client, id), about: total, doing: "Taking the import back", phrases });
}

/** The newest first: a plant that the import changed twice goes back step by step. */
async function* swapsBack(client: Pick<Client, "changesOfImport">, id: string): AsyncGenerator<PlantChange, void> {
  for (let query: PastQuery | undefined = { limit: PAGE }; query;) {
    const { changes, next }: Awaited<ReturnType<Client["changesOfImport"]>> = await client.changesOfImport(id, query);
    for (const { from, to, forgotten } of changes) if (forgotten !== true && (from ?? to)) yield { from: to, to: from };
    query = next;
  }
}

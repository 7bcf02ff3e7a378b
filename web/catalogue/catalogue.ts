import { createClient } from "../../src/client/client.ts";
import type { Client, Plant } from "../../src/client/client.ts";
import type { Access } from "../access.ts";
import type { AppContext } from "../app-context.ts";
import { createDeletions } from "./deletions.ts";
import type { Deletions } from "./deletions.ts";
import { createListing } from "./listing.ts";
import type { Listing } from "./listing.ts";
import { createTagCounts } from "./tag-counts.ts";
import type { TagCounts } from "./tag-counts.ts";

/** What the signed-in user works with. */
export type Catalogue = Readonly<{
  client: Client;
  access: Access;
  listing: Listing;
  tagCounts: TagCounts;
  deletions: Deletions;
  /** Tells the parts of the page of a change that was made here. */
  note: (before: Plant | undefined, after: Plant | undefined) => void;
  /** Asks the service for all that is shown, again. */
  reload: () => Promise<void>;
}>;

/** Tries of the client by itself; after them the page says what is wrong, and people may try again. */
const RETRIES = 2;
const TIMEOUT_MS = 15_000;

type CatalogueOptions = Readonly<{ token: string; access: Access }>;

export function createCatalogue({ base, reaching, notices, views }: AppContext, { token, access }: CatalogueOptions): Catalogue {
  const client = createClient({ url: base, token, fetch: reaching.fetch, retries: RETRIES, timeoutMs: TIMEOUT_MS });
  const listing = createListing(client, views.state.get());
  const tagCounts = createTagCounts(client);
  function note(before: Plant | undefined, after: Plant | undefined): void {
    if (!access.read) return;
    listing.note(before, after);
    tagCounts.note(before, after);
  }
  const deletions = createDeletions({ client, listing, notices, onDeleted: (plant) => tagCounts.note(plant, undefined) });
  return {
    client,
    access,
    listing,
    tagCounts,
    deletions,
    note,
    async reload() {
      if (access.read) await Promise.all([listing.show(views.state.get()), tagCounts.load()]);
    },
  };
}

import { createClient } from "../../src/client/client.ts";
import type { Client, Plant } from "../../src/client/client.ts";
import { accessOf } from "../access.ts";
import type { Access } from "../access.ts";
import type { AppContext } from "../app-context.ts";
import { isGone } from "../session.ts";
import { createState } from "../state.ts";
import type { State } from "../state.ts";
import { tabStorage } from "../storage.ts";
import { createBulkChanges } from "./bulk-changes.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import { createCatalogueFetch } from "./catalogue-fetch.ts";
import { createDeletions } from "./deletions.ts";
import type { Deletions } from "./deletions.ts";
import { createListing, ROWS_AT_ONCE_MAX } from "./listing.ts";
import type { Listing, NotedChange } from "./listing.ts";
import { createRenaming } from "./renaming.ts";
import type { Renaming } from "./renaming.ts";
import { createSignedInFetch, SignedOutError } from "./sign-out.ts";
import { createTagging } from "./tagging.ts";
import type { Tagging } from "./tagging.ts";
import { createTagCounts } from "./tag-counts.ts";
import type { LiveTagCounts } from "./tag-counts.ts";
import { createTicks } from "./ticks.ts";
import type { Ticks } from "./ticks.ts";

/** What the signed-in user works with. */
export type Catalogue = Readonly<{
  client: Client;
  /** What the token may do that is in use now. */
  access: Access;
  listing: Listing;
  tagCounts: LiveTagCounts;
  deletions: Deletions;
  bulkChanges: BulkChanges;
  tagging: Tagging;
  ticks: Ticks;
  renaming: Renaming;
  /** Tells the parts of the page of a change that was made here. */
  note: (before: Plant | undefined, after: Plant | undefined) => void;
  /** The plant that was added here last: the table brings it into view. */
  revealed: State<bigint | undefined>;
  /** Brings a plant that was just added into view, in another view if this one does not show it. */
  reveal: (plant: Plant) => void;
  /** A token that was just made: it is shown until people say that they have it. */
  newSecret: State<string | undefined>;
  /** Loads all that is shown from its beginning. */
  reload: () => Promise<void>;
  /** Asks again for what did not come: the rows behind those that are here, or all. */
  retry: () => Promise<void>;
  /** Asks the service for all that is shown, again, without moving it; behind a list that is too long for that, for the rows that did not come. */
  refresh: () => Promise<void>;
}>;

/** Tries of the client by itself; after them the page says what is wrong, and people may try again. */
const RETRIES = 2;
const TIMEOUT_MS = 15_000;

/** The tags of more changes are counted again by the service. */
const COUNTED_MAX = 200;

export function createCatalogue({ base, session, reaching, notices, keptUndo, views, tabs }: AppContext): Catalogue {
  function signedIn() {
    const now = session.state.get();
    return now.kind === "in" ? now : now.before;
  }
  const accessNow = () => accessOf(signedIn()?.who);
  const signOut = new AbortController();
  const { fetch, changesSent } = createSignedInFetch(createCatalogueFetch(reaching.fetch, tabs.tell), signOut.signal);
  const client = createClient({
    url: base,
    token: () => signedIn()?.token ?? "",
    fetch,
    retries: RETRIES,
    timeoutMs: TIMEOUT_MS,
  });
  const listing = createListing(client, views.state.get());
  const tagCounts = createTagCounts(client, views.state);
  const revealed = createState<bigint | undefined>(undefined);
  /** What waits is of plants as they are then. */
  function noteWaiting(changes: readonly NotedChange[]): void {
    deletions.note(changes);
    tagging.note(changes);
  }
  function note(before: Plant | undefined, after: Plant | undefined): void {
    if (!accessNow().read) return;
    noteWaiting([{ before, after }]);
    ticks.note([{ before, after }]);
    listing.note(before, after);
    tagCounts.note(before, after);
  }
  function noteAll(made: readonly NotedChange[], seen: readonly NotedChange[]): void {
    const changes = [...made, ...seen];
    noteWaiting(made);
    listing.noteAll(changes);
    ticks.note(changes);
    if (changes.length > COUNTED_MAX) void tagCounts.load();
    else for (const { before, after } of changes) tagCounts.note(before, after);
  }
  async function reload(): Promise<void> {
    if (accessNow().read) await Promise.all([listing.show(views.state.get()), tagCounts.load()]);
  }
  async function retry(): Promise<void> {
    await (listing.state.get().plants.length === 0 ? reload() : listing.loadMore());
  }
  const bulkChanges = createBulkChanges({ client, notices, keptUndo, changesSent, signedOut: signOut.signal, onChanged: noteAll });
  const ticks = createTicks({ client, listing, notices });
  const renaming = createRenaming({ client, bulkChanges, notices, storage: tabStorage() });
  const tagging = createTagging({ bulkChanges, notices });
  const deletions = createDeletions({ bulkChanges, listing, notices });
  session.state.watch(() => {
    if (!isGone(session.state.get())) return;
    signOut.abort(new SignedOutError());
    deletions.abandon();
  });
  return {
    client,
    get access() {
      return accessNow();
    },
    listing,
    tagCounts,
    deletions,
    bulkChanges,
    tagging,
    ticks,
    renaming,
    note,
    revealed,
    newSecret: createState<string | undefined>(undefined),
    reveal(plant) {
      if (!accessNow().read) return;
      if (!listing.state.get().plants.some(({ id }) => id === plant.id)) views.show({ q: "", tag: undefined, sort: "newest" }, "replace");
      revealed.set(plant.id);
    },
    reload,
    retry,
    async refresh() {
      if (!accessNow().read) return;
      const { phase, plants } = listing.state.get();
      const isTooLong = plants.length > ROWS_AT_ONCE_MAX;
      await Promise.all([phase === "failed" && isTooLong ? retry() : listing.refresh(), tagCounts.load()]);
    },
  };
}

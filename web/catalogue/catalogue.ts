import type { ComponentType } from "preact";
import type { Client, Plant } from "../../src/client/client.ts";
import { createPageClient } from "../../src/client/page-client.ts";
import type { AppContext } from "../app-context.ts";
import type { News } from "../live/news.ts";
import { accessOf, isGone, signedInOf } from "../session.ts";
import type { Access } from "../session.ts";
import { State } from "../state.ts";
import { tabStorage } from "../storage.ts";
import { BulkChanges } from "./bulk-changes.ts";
import { createCatalogueFetch, createSignedInFetch, SignedOutError } from "./catalogue-fetch.ts";
import { Deletions } from "./deletions.ts";
import { Listing, ROWS_AT_ONCE_MAX } from "./listing.ts";
import type { NotedChange } from "./noted-change.ts";
import { Renaming } from "./renaming.ts";
import { LiveTagCounts } from "./tag-counts.ts";
import { Tagging } from "./tagging.ts";
import { Ticks } from "./ticks.ts";

/** Tries of the client by itself; after them the page says what is wrong, and people may try again. */
const RETRIES = 2;
const TIMEOUT_MS = 15_000;

/** The tags of more changes are counted again by the service. */
const COUNTED_MAX = 200;

/** Plants by their id; undefined where there is none. */
type Heard = ReadonlyMap<bigint, Plant | undefined>;

/** What the signed-in user works with. */
export class Catalogue {
  readonly client: Client;
  readonly listing: Listing;
  readonly tagCounts: LiveTagCounts;
  readonly deletions: Deletions;
  readonly bulkChanges: BulkChanges;
  readonly tagging: Tagging;
  readonly ticks: Ticks;
  readonly renaming: Renaming;
  /** The plant that was added in this view last: the table brings it into sight, or the toolbar names it. */
  readonly added = new State<Plant | undefined>(undefined);
  /** A token that was just made: it is shown until people say that they have it. */
  readonly newSecret = new State<string | undefined>(undefined);
  /** As of the SignedInFetch. */
  readonly changedAt: () => number;
  /** What others changed, and the list does not show. */
  readonly news = new State<News | undefined>(undefined);
  /** What shows the news. It comes with the code that hears of them. */
  readonly newsView = new State<Readonly<{ View: ComponentType<Readonly<{ catalogue: Catalogue }>> }> | undefined>(undefined);
  /** The plants that others changed last, as they are now. */
  readonly heard = new State<Heard>(new Map());
  readonly context: AppContext;

  constructor(context: AppContext) {
    this.context = context;
    const { base, session, reaching, notices, keptUndo, views, tabs } = context;
    const signOut = new AbortController();
    const { fetch, changesSent, changedAt } = createSignedInFetch(createCatalogueFetch(reaching.fetch, tabs.tell), signOut.signal);
    const token = () => signedInOf(session.state.get())?.token ?? "";
    const client = createPageClient({ url: base, token, fetch, retries: RETRIES, timeoutMs: TIMEOUT_MS });
    const listing = new Listing(client, views.state.get());
    const onChanged = this.#noteAll.bind(this);
    const bulkChanges = new BulkChanges({ client, notices, keptUndo, changesSent, signedOut: signOut.signal, onChanged });
    this.client = client;
    this.changedAt = changedAt;
    this.listing = listing;
    this.bulkChanges = bulkChanges;
    this.tagCounts = new LiveTagCounts(client, views.state);
    this.ticks = new Ticks({ client, listing, notices, gone: () => this.news.get()?.gone });
    this.renaming = new Renaming({ client, bulkChanges, notices, storage: tabStorage() });
    this.tagging = new Tagging({ bulkChanges, notices });
    this.deletions = new Deletions({ bulkChanges, listing, notices });
    views.state.watch(() => this.added.set(undefined));
    session.state.watch(() => {
      if (!isGone(session.state.get())) return;
      signOut.abort(new SignedOutError());
      this.deletions.abandon();
    });
  }

  /** What the token may do that is in use now. */
  get access(): Access {
    return accessOf(this.context.session.state.get());
  }

  /** Tells the parts of the page of a change that was made here. */
  note(before: Plant | undefined, after: Plant | undefined): void {
    if (!this.access.read) return;
    this.#noteWaiting([{ before, after }]);
    this.ticks.note([{ before, after }]);
    this.listing.note(before, after);
    this.tagCounts.note(before, after);
  }

  /** Loads all that is shown from its beginning. */
  async reload(): Promise<void> {
    if (this.access.read) await Promise.all([this.listing.show(this.context.views.state.get()), this.tagCounts.load()]);
  }

  /** Asks again for what did not come: the rows behind those that are here, or all. */
  async retry(): Promise<void> {
    await (this.listing.state.get().plants.length === 0 ? this.reload() : this.listing.loadMore());
  }

  /** Asks for all that is shown, as people want it; from its beginning if it is too long. */
  async readAgain(): Promise<void> {
    await (this.listing.state.get().plants.length > ROWS_AT_ONCE_MAX ? this.reload() : this.refresh());
  }

  /** Asks the service for all that is shown, again, without moving it; behind a list that is too long for that, for the rows that did not come. */
  async refresh(): Promise<void> {
    if (!this.access.read) return;
    const { phase, plants } = this.listing.state.get();
    const isTooLong = plants.length > ROWS_AT_ONCE_MAX;
    await Promise.all([phase === "failed" && isTooLong ? this.retry() : this.listing.refresh(), this.tagCounts.load()]);
  }

  #noteAll(made: readonly NotedChange[], seen: readonly NotedChange[]): void {
    const changes = [...made, ...seen];
    this.#noteWaiting(made);
    this.listing.noteAll(changes);
    this.ticks.note(changes);
    if (changes.length > COUNTED_MAX) void this.tagCounts.load();
    else for (const { before, after } of changes) this.tagCounts.note(before, after);
  }

  /** What waits is of plants as they are then. */
  #noteWaiting(changes: readonly NotedChange[]): void {
    const added = this.added.get();
    const change = added && changes.findLast(({ before }) => before?.id === added.id);
    if (change) this.added.set(change.after);
    this.deletions.note(changes);
    this.tagging.note(changes);
  }
}

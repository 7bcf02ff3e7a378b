import type { Authenticator } from "../../auth/authenticate.ts";
import { authorize } from "../../auth/authorize.ts";
import { ownerOf, tokenOf } from "../../auth/principal.ts";
import { PlantStoreError } from "../../domain/errors.ts";
import { createFairShares } from "../../runtime/fair-shares.ts";
import type { Log } from "../../runtime/log.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import type { History, LogCursor } from "../../store/history.ts";
import type { HistoryFor } from "../../store/queued-history.ts";
import type { Token } from "../../store/tokens.ts";
import type { Call } from "../router.ts";
import type { LiveBody } from "../wire/response.ts";
import { createFeedMeter } from "./feed-meter.ts";
import { Feed } from "./feed.ts";
import { Listener } from "./listener.ts";
import type { End, Hub } from "./listener.ts";
import { expectProgress } from "./progress.ts";

type StreamsOptions = Readonly<{
  history: History;
  /** Without a limit on waiting: each stream waits for one read at most. */
  historyFor: HistoryFor;
  authenticator: Pick<Authenticator, "confirm">;
  /** How many connections the service may have. */
  connectionsMax: number;
  metrics: Metrics;
  log: Log;
}>;

type StreamQuery = Readonly<{ after: LogCursor | undefined; tag: string | null | undefined }>;

/** Streams that one token has. */
type Holder = Readonly<{ token: Token; authorization: string | null; listeners: Set<Listener> }>;

/** @limit connections: streams of changes of one token */
const TOKEN_STREAMS_MAX = 32;

/** @limit connections: streams of changes are at most one part of the connections in so many */
const CONNECTIONS_SHARE = 8;

/**
 * What may wait for all readers of streams together, in bytes. A token has its share.
 *
 * @limit connections: blocks of streams of changes in memory that are not read yet
 */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** How many changes one that is behind reads at a time. */
const PAGE_CHANGES_MAX = 250;

/**
 * How often to look at tokens and slow readers, in milliseconds: the authenticator may be as late again.
 *
 * @limit connections: time between two looks at each token that has streams, every second one in the store
 */
const LOOK_MS = 400;

/** All streams of changes: who may have one, and when it ends. */
export class Streams implements Hub {
  readonly #options: StreamsOptions;
  readonly #feed: Feed;
  readonly #holders = new Map<string, Holder>();
  readonly #bytes = createFairShares(WAITING_BYTES_MAX);
  readonly #meter: ReturnType<typeof createFeedMeter>;
  #count = 0;
  #isDraining = false;
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#meter = createFeedMeter(options.metrics, () => this.#count);
    this.#feed = new Feed({
      history: options.history,
      meter: this.#meter,
      onFail: (listeners, reason) => {
        options.log.warn("changes_unreadable", { streams: listeners.length, reason });
        this.#expectKnown(reason);
        for (const listener of listeners) listener.end("store");
      },
    });
  }

  /** Opens a stream behind a cursor, by default behind all that was answered before. Rejects with what is wrong with it. */
  async open(call: Call<"listChanges">, { after, tag }: StreamQuery): Promise<LiveBody> {
    const { history, historyFor } = this.#options;
    const owner = ownerOf(call.principal);
    const read = (behind: LogCursor) =>
      historyFor(owner)
        .read({ after: behind, limit: PAGE_CHANGES_MAX, tag })
        .then((page) => expectProgress(page, behind));
    const listener = new Listener({ hub: this, owner, tag, read });
    this.#admit(listener, call);
    try {
      const cursor = after ?? (await history.newest());
      listener.begin(cursor, after === undefined ? { changes: [], cursor, isEnd: true } : await read(cursor));
    } catch (reason) {
      listener.closed();
      throw reason;
    }
    return { open: (peer) => listener.open(peer), drop: () => listener.closed() };
  }

  /** Ends all streams, and takes no more. */
  drain(): void {
    this.#isDraining = true;
    for (const listener of this.#all()) listener.end("drain");
  }

  next: Hub["next"] = (cursor, listener) => this.#feed.next(cursor, listener);
  join: Hub["join"] = (listener) => this.#feed.join(listener);
  leave: Hub["leave"] = (listener) => this.#feed.leave(listener);
  joinLater: Hub["joinLater"] = (listener, cursor) => this.#feed.joinLater(listener, cursor);
  takeBytes: Hub["takeBytes"] = (owner, bytes) => this.#bytes.tryTake(owner, bytes);
  giveBytes: Hub["giveBytes"] = (owner, bytes) => this.#bytes.give(owner, bytes);
  sent: Hub["sent"] = (events) => this.#meter.sent(events);
  now: Hub["now"] = () => performance.now();

  failed(listener: Listener, reason: unknown): void {
    this.#expectKnown(reason);
    listener.end("store");
  }

  /** All else is a bug. */
  #expectKnown(reason: unknown): void {
    if (!(reason instanceof PlantStoreError)) this.#options.log.error("unexpected_error", { error: reason });
  }

  ended(listener: Listener, end: End): void {
    this.#feed.leave(listener);
    const holder = this.#holders.get(listener.owner);
    if (!holder?.listeners.delete(listener)) return;
    this.#count -= 1;
    this.#meter.ended(end);
    if (holder.listeners.size === 0) this.#holders.delete(listener.owner);
    if (this.#count > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #admit(listener: Listener, { principal, headers }: Call<"listChanges">): void {
    if (this.#isDraining) throw new PlantStoreError("draining");
    const holder = this.#holders.get(listener.owner) ?? {
      token: tokenOf(principal),
      authorization: headers.get("authorization"),
      listeners: new Set(),
    };
    const isFull = this.#count >= Math.max(1, Math.floor(this.#options.connectionsMax / CONNECTIONS_SHARE));
    if (isFull || holder.listeners.size >= TOKEN_STREAMS_MAX) throw new PlantStoreError("overloaded");
    this.#holders.set(listener.owner, holder);
    holder.listeners.add(listener);
    this.#count += 1;
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS);
  }

  #all(): Listener[] {
    return [...this.#holders.values()].flatMap(({ listeners }) => [...listeners]);
  }

  #look(): void {
    for (const listener of this.#all()) listener.look(this.#feed.isLive(listener));
    for (const holder of this.#holders.values()) void this.#confirm(holder);
  }

  /** Once for all streams of a token. */
  async #confirm({ token, authorization, listeners }: Holder): Promise<void> {
    try {
      authorize(await this.#options.authenticator.confirm(authorization, token), "plants:read");
    } catch {
      for (const listener of listeners) listener.end("token");
    }
  }
}

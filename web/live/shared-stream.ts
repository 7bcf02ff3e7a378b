import { ServiceError } from "../../src/client/page-client.ts";
import type { Change, Client } from "../../src/client/client.ts";

/** What a stream brought, and the cursor behind it. `isAnew`: it has just begun, and something may have been missed before. */
export type Heard = Readonly<{ changes: readonly Change[]; cursor: string; isAnew?: boolean }>;

type StreamOptions = Readonly<{
  client: Pick<Client, "changes">;
  /** Where the service is, and the token in use: only tabs with both in common tell each other of plants. */
  base: string;
  token: string;
  onHeard: (heard: Heard) => void;
  /** Called when nothing is missed from now on, but something may have been before. */
  onGap: () => void;
}>;

/** What a tab that opens asks of the one that holds the stream. */
const WHERE = "where";

/** What comes within this time is told together. */
const TOGETHER_MS = 50;

/** How long to read without a pause for the page. */
const WORK_MS = 8;

/** The pause after a failure, and between two looks of a tab that cannot know whether others hold a stream too. */
const PAUSE_MS = 15_000;

/** How long such a look is. */
const LOOK_MS = 1_500;

/** The cursor is no longer good, or of another version of the service. */
const LOST: readonly number[] = [400, 410];

/** There are too many streams, or requests. */
const FULL: readonly number[] = [429, 503];

/** A stream that is silent for longer is none: the service sends something every 15 s. */
const SILENCE_MS_MAX = 40_000;

/**
 * Hears of changes as long as the page is in sight: on a stream that only one tab holds, because a browser has six connections to a service
 * over HTTP/1.1. The others hear from that one.
 */
export class SharedStream {
  readonly #options: StreamOptions;
  #cursor: string | undefined;
  #heardAt = -Infinity;
  #waiting: Change[] = [];
  #isAnew = false;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Whether changes come by themselves now. */
  get isLive(): boolean {
    return performance.now() - this.#heardAt < SILENCE_MS_MAX;
  }

  /** Goes on where it stopped, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const name = await nameOf(this.#options);
    const channel = openChannel(name);
    if (!channel) return this.#look(signal);
    let isHolder = false;
    channel.addEventListener("message", ({ data }: MessageEvent<Heard | typeof WHERE>) => {
      if (data !== WHERE) this.#hear(data);
      else if (isHolder && this.#cursor !== undefined) channel.postMessage({ changes: [], cursor: this.#cursor } satisfies Heard);
    });
    signal.addEventListener("abort", () => channel.close());
    if (signal.aborted) return channel.close();
    channel.postMessage(WHERE);
    const hold = (): Promise<void> => {
      isHolder = true;
      return this.#hold(signal, (heard) => channel.postMessage(heard));
    };
    // It rejects when the page is out of sight before its turn comes.
    await navigator.locks.request(name, { signal }, hold).catch(() => undefined);
  }

  /** Holds the stream, and makes it again where it ends. */
  async #hold(signal: AbortSignal, tell: (heard: Heard) => void): Promise<void> {
    for (let waitMs: number | undefined = 0; waitMs !== undefined && !signal.aborted;) {
      await pause(waitMs, signal);
      waitMs = await this.#follow(signal, tell);
    }
  }

  /** For a page that was not served over TLS: it has no locks. */
  async #look(signal: AbortSignal): Promise<void> {
    for (let waitMs: number | undefined = 0; waitMs !== undefined && !signal.aborted;) {
      await pause(waitMs, signal);
      const look = new AbortController();
      const timer = setTimeout(() => look.abort(), LOOK_MS);
      waitMs = await this.#follow(AbortSignal.any([signal, look.signal]), () => undefined);
      clearTimeout(timer);
    }
  }

  /** Resolves with when to try again; undefined is never. */
  async #follow(signal: AbortSignal, tell: (heard: Heard) => void): Promise<number | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pass = (): void => {
      clearTimeout(timer);
      timer = undefined;
      const heard = { changes: this.#waiting, cursor: this.#cursor!, isAnew: this.#isAnew };
      this.#waiting = [];
      this.#isAnew = false;
      this.#hear(heard);
      if (!signal.aborted) tell(heard);
    };
    try {
      let until = performance.now() + WORK_MS;
      for await (const { change, cursor } of this.#options.client.changes({ after: this.#cursor ?? "now", signal })) {
        if (change) this.#waiting.push(change);
        this.#isAnew ||= this.#cursor === undefined;
        this.#cursor = cursor;
        timer ??= setTimeout(pass, TOGETHER_MS);
        if (performance.now() < until) continue;
        await pause(0, signal);
        until = performance.now() + WORK_MS;
      }
    } catch (thrown) {
      if (!signal.aborted) return this.#fail(thrown);
    } finally {
      if (timer !== undefined) pass();
    }
    return PAUSE_MS;
  }

  #fail(thrown: unknown): number | undefined {
    this.#heardAt = -Infinity;
    if (!(thrown instanceof ServiceError)) return PAUSE_MS;
    const { status } = thrown;
    const isLost = this.#cursor !== undefined && LOST.includes(status);
    // What came behind it cannot be had any more: it begins again, from now on.
    if (isLost) this.#cursor = undefined;
    return isLost ? 0 : FULL.includes(status) ? PAUSE_MS : undefined;
  }

  #hear(heard: Heard): void {
    this.#heardAt = performance.now();
    if (this.#cursor === undefined || heard.isAnew === true) this.#options.onGap();
    this.#cursor = heard.cursor;
    if (heard.changes.length > 0) this.#options.onHeard(heard);
  }
}

/** Of a lock and a channel that no page knows without the token. */
async function nameOf({ base, token }: StreamOptions): Promise<string> {
  // A page without TLS has neither this nor locks, whatever the types say.
  if (!("subtle" in crypto)) return "";
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${base} ${token}`));
  return `plant-store changes ${Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Undefined where a browser has no locks, or denies its pages a channel. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return "locks" in navigator ? new BroadcastChannel(name) : undefined;
  } catch {
    return undefined;
  }
}

/** Ends early when `signal` aborts. */
function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    const timer = setTimeout(end, waitMs);
    signal.addEventListener("abort", end);
  });
}

import type { Token, TokenStore } from "../store/tokens.ts";

const MINUTE_MS = 60_000;

/** How many tokens' uses to keep in memory. Beyond that, they are stored at once. */
const NOTED_MAX = 10_000;

export type Usage = ReturnType<typeof createUsage>;

/**
 * Tracks when tokens were last used, to the minute, without a write for each request. The caller must call `flush` once a
 * minute. A crash loses what was recorded since.
 */
export function createUsage(tokens: TokenStore) {
  let noted = new Map<string, number>();

  /** Stores what was recorded. Never rejects: what cannot be stored is kept for the next call. */
  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await tokens.touch(uses);
    } catch {
      // The store logs its own failures.
      for (const [id, at] of uses) if (noted.size < NOTED_MAX) noted.set(id, Math.max(at, noted.get(id) ?? 0));
    }
  }

  return {
    /** Records a use. `time` is in milliseconds since 1970. */
    note({ id }: Token, time: number): void {
      const minute = time - (time % MINUTE_MS);
      if (noted.get(id) === minute) return;
      if (noted.size >= NOTED_MAX) void flush();
      noted.set(id, minute);
    },
    /** The token, including a use that is not stored yet. */
    complete(token: Token): Token {
      const lastUsed = noted.get(token.id);
      return lastUsed === undefined || lastUsed <= (token.lastUsed ?? 0) ? token : { ...token, lastUsed };
    },
    flush,
  };
}

import type { Token, TokenStore } from "../store/tokens.ts";

/** Knows when tokens were used last, to the minute, without a write for each request. */
export type Usage = Readonly<{
  /** `time` in milliseconds since 1970. */
  note(token: Token, time: number): void;
  /** The token with what has not been written down yet. */
  complete(token: Token): Token;
  /** Writes down what was noted. It never rejects: what cannot be written now is kept for the next time. */
  flush(): Promise<void>;
}>;

const MINUTE_MS = 60_000;

/** Of how many tokens a use is kept in memory; with more, it is written down at once. */
const NOTED_MAX = 10_000;

/** Somebody calls `flush` once a minute: what was noted since is lost in a crash. */
export function createUsage(tokens: TokenStore): Usage {
  let noted = new Map<string, number>();

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await tokens.touch(uses);
    } catch {
      // The store tells of its own trouble.
      for (const [id, at] of uses) if (noted.size < NOTED_MAX) noted.set(id, Math.max(at, noted.get(id) ?? 0));
    }
  }

  return {
    note({ id }, time) {
      const minute = time - (time % MINUTE_MS);
      if (noted.get(id) === minute) return;
      if (noted.size >= NOTED_MAX) void flush();
      noted.set(id, minute);
    },
    complete(token) {
      const lastUsed = noted.get(token.id);
      return lastUsed === undefined || lastUsed <= (token.lastUsed ?? 0) ? token : { ...token, lastUsed };
    },
    flush,
  };
}

import type { DatabaseSync } from "node:sqlite";

/** How many words are looked at for each that was added: so at most about half of the list is of no use. */
const LOOKS_A_WORD = 2;

/** How many words are looked at in one call. */
const LOOKS_MAX = 500;

export type WordList = ReturnType<typeof createWordList>;

/** The words that the names of an index have, for prefixes; and the tokens of its tags, with these. No word begins as a token does. */
export function createWordList(db: DatabaseSync) {
  const lookedAt = db.prepare("SELECT word FROM looked_at");
  const saveLookedAt = db.prepare("UPDATE looked_at SET word = ?");
  const insert = db.prepare("INSERT INTO words (word) SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING");
  const insertTag = db.prepare("INSERT INTO words (word, tag) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const first = db.prepare("SELECT word FROM words WHERE word >= ? ORDER BY word LIMIT 1");
  const range = db.prepare(
    "SELECT count(*) AS count, max(word) AS last FROM (SELECT word FROM words WHERE word > ? ORDER BY word LIMIT ?)",
  );
  // The list of all terms would count the plants of each.
  const forget = db.prepare(`DELETE FROM words
    WHERE word > ? AND word <= ? AND NOT EXISTS (SELECT 1 FROM names WHERE names MATCH '"' || words.word || '"')`);
  /** How many looks are due for what was added, and how many of them may bring something. */
  let due = 0;
  let allowed = 0;
  /**
   * What was listed before this start is due once too: no one knows what was still due when the last one ended. The first time
   * at the end of the list it has seen only what is behind the word where the last one ended.
   */
  let firstRounds = 2;

  return {
    /** They must be sorted. */
    add(words: readonly string[]): void {
      due += LOOKS_A_WORD * Number(insert.run(JSON.stringify(words)).changes);
    },
    addTag: (token: string, tag: string) => void (due += LOOKS_A_WORD * Number(insertTag.run(token, tag).changes)),
    /** Plants were removed, or replaced: some of their words, at most so many of each, may be in no name any more. */
    removed(plants: number, wordsMax: number): void {
      allowed += LOOKS_A_WORD * wordsMax * plants;
      if (firstRounds === 0) allowed = Math.min(due, allowed);
    },
    /** Looks at some words, from where the last call ended, and forgets those that no name has any more. */
    forgetUnused(): Readonly<{ lookedAt: number; forgotten: number }> {
      const looks = Math.min(allowed, LOOKS_MAX);
      if (looks === 0) return { lookedAt: 0, forgotten: 0 };
      const start = lookedAt.get()!["word"] as string;
      const { count, last } = range.get(start, looks) as { count: number; last: string | null };
      const isAtEnd = count < looks;
      saveLookedAt.run(isAtEnd ? "" : last);
      if (firstRounds === 0) due -= looks;
      else if (isAtEnd) firstRounds -= 1;
      allowed = Math.min(allowed - looks, firstRounds > 0 ? Infinity : due);
      return { lookedAt: looks, forgotten: last === null ? 0 : Number(forget.run(start, last).changes) };
    },
    /** The first word at or after a text. */
    from: (text: string) => first.get(text)?.["word"] as string | undefined,
  };
}

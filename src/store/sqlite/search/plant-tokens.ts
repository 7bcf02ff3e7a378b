import { hash } from "node:crypto";
import { nameKey } from "../../../name-order.ts";
import { tokenize } from "../../../tokenizer.ts";
import { PREFIX_LENGTHS, startOf } from "./expression.ts";
import { PLACES, timeKey, tokenOfPlace } from "./place-tokens.ts";

/** A plant as it is indexed. */
export type PlantRow = { id: bigint; name: string; tag: string | null; added: bigint | null };

/** The text that FTS5 indexes for a name, and how many words the name has. */
type Words = Readonly<{ text: string; count: number }>;

/** The token of plants without a tag. No token of a tag equals it. */
const NO_TAG = "#none";

/** Bounds of the caches: names, tags, and the length of what is cached. */
const NAMES_KNOWN_MAX = 10_000;
const TAGS_KNOWN_MAX = 1000;
const LENGTH_KNOWN_MAX = 64;

/** Makes what the index gets of plants, and remembers what occurs again. */
export type PlantTokens = Readonly<{
  /** The words of a name. Those of a name that is not remembered are told to `onWord`. */
  ofName(name: string): Words;
  ofTag(tag: string | null): string;
  ofTime(added: bigint | null): string;
  /** What `onWord` was told was not kept: it must be told again. */
  forgetNames(): void;
}>;

export function createPlantTokens(onWord: (word: string) => void): PlantTokens {
  const names = new Map<string, Words>();
  const tags = new Map<string, string>();
  let lastTime: Readonly<{ added: bigint | null; token: string }> | undefined;

  return {
    ofName(name) {
      const remembered = names.get(name);
      if (remembered !== undefined) return remembered;
      const all = tokenize(name);
      for (const word of all) onWord(word);
      return remember(names, name, { text: textOf(name, all), count: all.length }, NAMES_KNOWN_MAX);
    },
    ofTag: (tag) => (tag === null ? NO_TAG : (tags.get(tag) ?? remember(tags, tag, toToken(tag), TAGS_KNOWN_MAX))),
    // Plants that one commit created have one time.
    ofTime(added) {
      if (lastTime?.added !== added) lastTime = { added, token: tokenOfPlace("newest", timeKey(added)) };
      return lastTime.token;
    },
    forgetNames: () => names.clear(),
  };
}

/** All that the index holds of a plant, in any order. */
export function tokensOf({ name, tag, added }: Omit<PlantRow, "id">, words: readonly string[]): Set<string> {
  const token = tag === null ? NO_TAG : toToken(tag);
  return new Set(`${textOf(name, words)} ${token} ${tokenOfPlace("newest", timeKey(added))}`.split(" ").filter((one) => one !== ""));
}

/** What FTS5 gets of a name: its words, and its place. */
function textOf(name: string, words: readonly string[]): string {
  return `${toText(words)} ${PLACES.name.start}${nameKey(name)}`;
}

/** The words of a name and their indexed prefixes, as FTS5 gets them. A search for a prefix is then as fast as for a word. */
function toText(words: readonly string[]): string {
  const terms = [...words];
  for (const word of words) for (const length of PREFIX_LENGTHS) if (word.length > length) terms.push(startOf(word, length));
  return terms.join(" ");
}

function remember<Value>(cache: Map<string, Value>, key: string, value: Value, entriesMax: number): Value {
  if (cache.size >= entriesMax) cache.clear();
  // Without this limit the cache would have no bound in bytes.
  if (key.length <= LENGTH_KNOWN_MAX) cache.set(key, value);
  return value;
}

function toToken(tag: string): string {
  return `#${hash("sha256", tag, "hex").slice(0, 16)}`;
}

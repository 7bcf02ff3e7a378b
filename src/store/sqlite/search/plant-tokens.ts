import { hash } from "node:crypto";
import { nameKey } from "../../../domain/name-order.ts";
import { tokenize } from "../../../domain/terms.ts";
import { PREFIX_LENGTHS, startOf } from "./expression.ts";
import { ALL_PLANTS, placeTokens, timeDigits } from "./place-tokens.ts";
import type { PlaceKeys } from "./place-tokens.ts";

/** A plant as it is indexed. */
export type PlantRow = { id: bigint; name: string; tag: string | null; added: bigint | null };

/** What FTS5 gets of a plant, and how many words its name has. */
type IndexedText = Readonly<{ text: string; count: number }>;

/** What FTS5 gets of a name, and the key of its place. */
type IndexedName = IndexedText & Readonly<{ key: string }>;

/** The token of plants without a tag. No token of a tag equals it. */
const NO_TAG = "#none";

/** Bounds of the caches: names, tags, and the length of what is cached. */
const NAMES_KNOWN_MAX = 10_000;
const TAGS_KNOWN_MAX = 1000;
const LENGTH_KNOWN_MAX = 64;

/** Makes what the index gets of plants, and remembers what occurs again. */
export type PlantTokens = Readonly<{
  /** The words of a name that is not remembered are told to `onWord`. */
  of(plant: Omit<PlantRow, "id">): IndexedText;
  ofTag(tag: string | null): string;
  /** What `onWord` was told was not kept: it must be told again. */
  forgetNames(): void;
}>;

export function createPlantTokens(onWord: (word: string) => void): PlantTokens {
  const names = new Map<string, IndexedName>();
  const tags = new Map<string, string>();
  let lastTime: Readonly<{ added: bigint | null; digits: string }> | undefined;

  function ofName(name: string): IndexedName {
    const remembered = names.get(name);
    if (remembered !== undefined) return remembered;
    const all = tokenize(name);
    for (const word of all) onWord(word);
    return remember(names, name, { text: toText(all), count: all.length, key: nameKey(name) }, NAMES_KNOWN_MAX);
  }

  function ofTag(tag: string | null): string {
    return tag === null ? NO_TAG : (tags.get(tag) ?? remember(tags, tag, toToken(tag), TAGS_KNOWN_MAX));
  }

  // Plants that one commit created have one time.
  function ofTime(added: bigint | null): string {
    if (lastTime?.added !== added) lastTime = { added, digits: timeDigits(added) };
    return lastTime.digits;
  }

  return {
    of({ name, tag, added }) {
      const { text, count, key } = ofName(name);
      return { text: join(text, ofTag(tag), { nameKey: key, time: ofTime(added) }), count };
    },
    ofTag,
    forgetNames: () => names.clear(),
  };
}

/** All that the index holds of a plant, in any order. */
export function tokensOf({ name, tag, added }: Omit<PlantRow, "id">, words: readonly string[]): Set<string> {
  const tagToken = tag === null ? NO_TAG : toToken(tag);
  const text = join(toText(words), tagToken, { nameKey: nameKey(name), time: timeDigits(added) });
  return new Set(text.split(" ").filter((one) => one !== ""));
}

/** What FTS5 gets of a plant: its words, its tag, and its places among all plants and among those of its tag. */
function join(words: string, tagToken: string, place: PlaceKeys): string {
  return `${words} ${tagToken} ${placeTokens(ALL_PLANTS, place)} ${placeTokens(tagToken, place)}`;
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

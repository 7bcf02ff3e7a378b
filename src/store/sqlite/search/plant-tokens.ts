import { hash } from "node:crypto";
import { nameKey } from "../../../domain/name-order.ts";
import { wordsOfName } from "../../../domain/terms.ts";
import type { Sorting } from "../../page.ts";
import type { PlantRow } from "../log-row.ts";
import { PREFIX_LENGTHS, startOf } from "./prefixes.ts";

/** What FTS5 gets of a plant, and how many words its name has. */
type IndexedText = Readonly<{ text: string; count: number }>;

/** What FTS5 gets of a name, and the key of its place. */
type IndexedName = IndexedText & Readonly<{ key: string }>;

/** What the tokens of tags begin with, and no other token. */
export const TAG = "#t";

/** The token of plants without a tag. */
const NO_TAG = "#none";

/** Bounds of the caches: names, tags, and the length of what is cached. */
const NAMES_KNOWN_MAX = 10_000;
const TAGS_KNOWN_MAX = 1000;
const LENGTH_KNOWN_MAX = 64;

/** What is not remembered: words of names, and tags with their tokens. */
type OnNew = Readonly<{ word: (word: string) => void; tag: (token: string, tag: string) => void }>;

/** Makes what the index gets of plants, and remembers it. */
export function createPlantTokens(onNew: OnNew) {
  const names = new Map<string, IndexedName>();
  const tags = new Map<string, string>();
  let lastTime: Readonly<{ added: bigint | null; digits: string }> | undefined;

  function ofName(name: string): IndexedName {
    const remembered = names.get(name);
    if (remembered !== undefined) return remembered;
    const all = wordsOfName(name);
    for (const word of all) onNew.word(word);
    return remember(names, name, { text: toText(all), count: all.length, key: nameKey(name) }, NAMES_KNOWN_MAX);
  }

  function ofTag(tag: string | null): string {
    if (tag === null) return NO_TAG;
    const remembered = tags.get(tag);
    if (remembered !== undefined) return remembered;
    const token = tokenOfTag(tag);
    onNew.tag(token, tag);
    return remember(tags, tag, token, TAGS_KNOWN_MAX);
  }

  // Plants that one commit created have one time.
  function ofTime(added: bigint | null): string {
    if (lastTime?.added !== added) lastTime = { added, digits: timeDigits(added) };
    return lastTime.digits;
  }

  return {
    of({ name, tag, added }: Omit<PlantRow, "id">): IndexedText {
      const { text, count, key } = ofName(name);
      return { text: join(text, ofTag(tag), [key, ofTime(added)]), count };
    },
    /** What `onNew` was told was not kept: it must be told again. */
    forget(): void {
      names.clear();
      tags.clear();
    },
  };
}

/** All that the index holds of a plant, in any order. */
export function tokensOf({ name, tag, added }: Omit<PlantRow, "id">, words: readonly string[]): Set<string> {
  const text = join(toText(words), tokenOfTag(tag), [nameKey(name), timeDigits(added)]);
  return new Set(text.split(" ").filter((one) => one !== ""));
}

/** Where a plant is in each order: the key of its name, and its time as `timeDigits` has it. */
type PlaceKeys = readonly [key: string, time: string];

/** What FTS5 gets of a plant: its words, its tag, and its places among all plants and among those of its tag. */
function join(words: string, tagToken: string, place: PlaceKeys): string {
  return `${words} ${tagToken} ${placeTokens(ALL_PLANTS, place)} ${placeTokens(listOf(tagToken), place)}`;
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

/** The token of a tag. Null is no tag. */
export function tokenOfTag(tag: string | null): string {
  return tag === null ? NO_TAG : TAG + hash("sha256", tag, "hex").slice(0, 24);
}

/** What tokens of places in the list of all plants begin with. */
const ALL_PLANTS = "#";

/** The same in the list of a tag: so each has its order, and the tokens of all tags are beside each other. */
function listOf(tagToken: string): string {
  return tagToken.startsWith(TAG) ? `#${tagToken.slice(TAG.length)}` : tagToken;
}

/** Follows in the token of a place, and what would come behind all of them. No other token has either there. */
const MARKS = {
  name: { start: "x", end: "y" },
  time: { start: "y", end: "z" },
} as const satisfies Record<Sorting["by"], unknown>;

/** The time in a token, in microseconds: as many as fourteen hexadecimal digits can say. */
const TIME_DIGITS = 14;
const TIME_MAX = 16n ** BigInt(TIME_DIGITS) - 1n;

/** The tokens of the places of all plants or, if it is not undefined, of a tag: from `start` on, and below `end`. */
export function placesOf(tag: string | null | undefined, by: Sorting["by"]) {
  const list = tag === undefined ? ALL_PLANTS : listOf(tokenOfTag(tag));
  const { start, end } = MARKS[by];
  const from = list + start;
  return {
    start: from,
    end: list + end,
    toToken: (key: string) => from + (by === "name" ? key : timeDigits(BigInt(key))),
    toKey: (token: string) => (by === "name" ? token.slice(from.length) : String(TIME_MAX - BigInt(`0x${token.slice(from.length)}`))),
  };
}

/** The key of a plant's place among the newest: the nearest time that a token can say. */
export function timeKey(added: bigint | null): string {
  return String(withinToken(added ?? 0n));
}

/** A time in a token: that of a later one comes first. */
function timeDigits(added: bigint | null): string {
  return (TIME_MAX - withinToken(added ?? 0n)).toString(16).padStart(TIME_DIGITS, "0");
}

function withinToken(time: bigint): bigint {
  return time < 0n ? 0n : time > TIME_MAX ? TIME_MAX : time;
}

/** The tokens of a plant's places in a list. */
function placeTokens(list: string, [key, time]: PlaceKeys): string {
  return `${list}${MARKS.name.start}${key} ${list}${MARKS.time.start}${time}`;
}

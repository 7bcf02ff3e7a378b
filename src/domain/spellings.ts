/** The letters, marks and digits of words. Letters that stand for an apostrophe, as in ʻōhiʻa and мʼята, separate them like any apostrophe. */
const LETTER = String.raw`[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u02b9-\u02bf]]`;

/** In Chinese and Japanese each character is a word. */
const ALONE = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]`;

/** Letters and digits in a row. */
export const WORD = new RegExp(`${ALONE}|${LETTER}+`, "gv");

/** Signs that may be left out between letters: those within what is spoken as one word, such as the dot of Catalan, and others. Points only between digits. */
const APOSTROPHE = /['’‘‛`′·՚׳\u02b9-\u02bf]/v;
const HYPHEN = /[\p{Pd}−.\/_]/v;

/** Words of a search: one, or several with such a sign between them. */
const CHAIN = new RegExp(
  `${ALONE}|(?:${LETTER}*\\p{N}[.\\/_](?=\\p{N})|${LETTER}+[${APOSTROPHE.source}[\\p{Pd}−]](?=${LETTER}))*${LETTER}+`,
  "gv",
);
const CHAIN_IN_ASCII = /(?:[a-z0-9]*[0-9][./_](?=[0-9])|[a-z0-9]+['`-](?=[a-z0-9]))*[a-z0-9]+/g;

/**
 * Several of a name, without digits: accession codes differ from plant to plant, and as words of the index they made it a
 * tenth larger.
 */
const LETTER_OF_NAME = String.raw`[${LETTER}--\p{N}]`;
const JOINED = new RegExp(`${LETTER_OF_NAME}+(?:[${APOSTROPHE.source}[\\p{Pd}−]]${LETTER_OF_NAME}+)+`, "gv");
const JOINED_IN_ASCII = /[a-z]+(?:['`-][a-z]+)+/g;

/** Whether there may be any: it takes less time. */
const HAS_JOINED = new RegExp(`\\S[${APOSTROPHE.source}[\\p{Pd}−]]\\S`, "v");
const HAS_JOINED_IN_ASCII = /[a-z]['`-][a-z]/;

/** An accession code without its sign: a year and what follows. */
const CODE = /^(?<year>1[789]\p{N}{2}|20\p{N}{2})(?<rest>[\p{L}\p{N}]{2,})$/u;

/**
 * An x that stands for ×, as in xfragilis: before letters that no word has after its x, as the Greek ones begin with xan-,
 * xer-, xiph- or xyl-. Not before numerals: Louis XVIII. Without the sign it is a word of more than three letters.
 */
const HYBRID = /^x(?![ivxlcdm]+$|y|a[lnt]|e[nrs]|i[mp]|ol)\p{L}{4,}/u;

/** A word behind the sign of hybrids, or behind an x of its own. */
const SIGNED = /(?:×\s*|(?<![\p{L}\p{N}\p{M}])x\s+)(\p{L}{4,})/gu;
const HAS_SIGNED = /×|(?:^|\s)x\s/;

/** Ranks in names, and how they are also written. A search finds what begins as it does: so `v` and `var` find `varietas`. */
const RANKS_IN_NAMES: ReadonlyMap<string, string> = new Map([
  ["v", "varietas"],
  ["var", "varietas"],
  ["f", "forma"],
  ["fo", "forma"],
  ["fm", "forma"],
  ["sp", "species"],
  ["spp", "species"],
]);

const RANK_LENGTH_MAX = 3;

/** Ranks in searches, and what they also find. */
const RANKS_IN_SEARCHES: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ["subsp ssp subspecies nothosubsp nothossp nssp", "subsp ssp nothosubsp nothossp nssp"],
    ["varietas variety var nothovar nvar", "varietas variety nothovar nvar"],
    ["forma nothoforma nothof", "forma nothof"],
    ["subvar subvarietas", "subvar"],
    ["subf subforma", "subf"],
    ["spp species", "species"],
    ["sect sectio section", "sect"],
    ["subg subgenus", "subg"],
    ["cv cultivar", "cv cultivar"],
    ["gx grex", "gx grex"],
  ].flatMap(([searched, found]) => searched!.split(" ").map((rank) => [rank, found!.split(" ")] as const)),
);

/** In these scripts words are not apart, or parts of words are looked for: a letter with its marks. */
const INNER = /[\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tale}\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}]\p{M}*/gv;

const HAS_INNER = new RegExp(INNER.source, "v");

/** Pairs of letters that a search looks for inside words, besides the first of each word. */
const PAIRS_A_WORD_MAX = 8;
const PAIRS_MAX = 16;

export function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** What a name is found by besides these words of it. The text is folded. As many as there are words and letters at most: joined forms do not multiply. */
export function spellingsOf(text: string, words: readonly string[], isPlain: boolean): string[] {
  const more = (isPlain ? HAS_JOINED_IN_ASCII : HAS_JOINED).test(text) ? joinedIn(text, isPlain) : [];
  const joined = more.length;
  for (let at = 0; at < words.length + joined; at += 1) {
    const word = words[at] ?? more[at - words.length]!;
    const rank = word.length <= RANK_LENGTH_MAX ? RANKS_IN_NAMES.get(word) : undefined;
    if (rank !== undefined) more.push(rank);
    if (isHybrid(word)) more.push(word.slice(1));
  }
  if (HAS_SIGNED.test(text)) more.push(...signedIn(text));
  if (!isPlain && HAS_INNER.test(text)) for (const word of words) more.push(...insideOf(word));
  return more;
}

/** For each word of a folded search: the ways in which a name may have it, one of which is the word. */
export function readingsOf(text: string): string[][] {
  const words: string[][] = [];
  const pairs: string[][] = [];
  for (const chain of text.match(isAscii(text) ? CHAIN_IN_ASCII : CHAIN) ?? []) {
    let whole = "";
    for (const element of chain.split(HYPHEN)) {
      let joined = "";
      for (const part of element.split(APOSTROPHE)) {
        joined += part;
        whole += part;
        const [first = [part], ...others] = dividedOf(part) ?? pairsOf(part);
        words.push([...first, joined, whole].flatMap(alike));
        pairs.push(...others);
      }
    }
  }
  return [...words, ...pairs.slice(0, PAIRS_MAX)];
}

/** "St. John's-wort" has "johns" and "johnswort". */
function joinedIn(text: string, isPlain: boolean): string[] {
  return (text.match(isPlain ? JOINED_IN_ASCII : JOINED) ?? []).flatMap((chain) => {
    const elements = chain.split(HYPHEN).map((element) => element.split(APOSTROPHE));
    const spoken = elements.filter(({ length }) => length > 1).map((parts) => parts.join(""));
    return elements.length > 1 ? [...spoken, elements.flat().join("")] : spoken;
  });
}

/** Words behind a sign of hybrids, with an x that no search leaves out. */
function signedIn(text: string): string[] {
  return Array.from(text.matchAll(SIGNED), ([, word]) => `x${word}`).filter((word) => !isHybrid(word));
}

function isHybrid(word: string): boolean {
  return word.startsWith("x") && HYBRID.test(word);
}

function alike(word: string): readonly string[] {
  return isHybrid(word) ? [word, word.slice(1)] : [word, ...(RANKS_IN_SEARCHES.get(word) ?? [])];
}

/** The pairs of letters inside a word, but for the one that it begins with, and its last letter. */
function insideOf(word: string): string[] {
  const letters = word.match(INNER) ?? [];
  const isFirst = letters.length > 0 && word.startsWith(letters[0]!);
  return letters.map((letter, at) => letter + (letters[at + 1] ?? "")).slice(isFirst ? 1 : 0);
}

/** What finds an accession code that has a sign in the name. */
function dividedOf(word: string): string[][] | undefined {
  const { year, rest } = CODE.exec(word)?.groups ?? {};
  return year === undefined || rest === undefined ? undefined : [[year], [rest, word]];
}

/** What finds a word inside another one: all pairs of its letters. Each may also be in a word that begins as this one. */
function pairsOf(word: string): string[][] {
  const letters = word.match(INNER) ?? [];
  if (letters.length < 3 || letters.join("") !== word) return [];
  return letters
    .slice(0, -1)
    .slice(0, PAIRS_A_WORD_MAX)
    .map((letter, at) => [letter + letters[at + 1]!, word]);
}

/** What is probably not meant so in a name, by what it is. */
export type Doubt = "mojibake" | "replacement character" | "HTML" | "control character" | "invisible character";

/** The first of them in a text; undefined for nearly all texts, at little cost. */
export function findDoubt(text: string): Doubt | undefined {
  if (!MAYBE_DOUBTFUL.test(text)) return undefined;
  return DOUBTS.find(({ pattern }) => pattern.test(text))?.doubt;
}

/** Nearly all names in ASCII have none of these. */
const MAYBE_DOUBTFUL = /[^ -%'-;=-~]/;

/** What Windows-1252 has for the bytes behind the first of a letter in UTF-8: signs, and a few letters. */
const SIGNS = "\\x80-\\xbf€‚ƒ„…†‡ˆ‰‹‘’“”•–—˜™›";
const FOLLOWS = `${SIGNS}ŠŒŽšœžŸ`;

/**
 * UTF-8 that was read as another encoding: a letter that UTF-8 begins with there, and what no language puts behind it.
 * Portuguese has Ã too, but not before a sign within a word.
 */
const MOJIBAKE = [
  // As Windows-1252 and ISO-8859-1: Ã¨, Å™, Ð”, â€™, ì†Œ.
  // But not »: that may end a quote in capitals, as a space may.
  "[ÂÃÄÅÎÏÐÑ×ØÙ][\\x80-\\x9f¡-º¼-¿€‚ƒ„…†‡ˆ‰‹•˜]|[a-z]Â | Ã— ",
  `(?<![A-ZÀ-Þ]{2})[ÃÄÅÐÑ][${FOLLOWS}](?=[a-zß-ÿÂÃÄÅÐÑ])|[a-zß-ÿ][ÃÄÅÐÑ×][${FOLLOWS}]|[ÎÏ×Ø][${FOLLOWS}][ÎÏ×ØÙ]`,
  `[à-ï](?:[${SIGNS}][${FOLLOWS}]|[${FOLLOWS}][${SIGNS}])|ð[\\x9fŸ][${FOLLOWS}]{2}`,
  // As Windows-1250 or ISO-8859-2: Ă©, Ĺ™.
  "[ĂĹ][\\x80-\\x9f¡-º¼-¿€‚„…†‡‰‹•ˇ˘˛˝˙]|(?:[a-z][ĂĹ]|(?<!\\p{Lu}{2})[ĂĹ](?=.[a-z]))[^\\0-\\x7fĂĹ]|\\p{L}[ĂĹ][ß-ÿ\\u0100-\\u017f](?<=\\p{Ll})",
  // As Windows-1251: Рђ, Г©; as old Macs: √©; as DOS: ├®.
  "(?:[РСОП][\\x80-\\xbf€‚„…†‡‰‹‘’“”•–—™›ЂЃѓЉЊЌЋЏђљњќћџЎўЈҐЁЄЇІіґё№єјЅѕї]){2}|[A-Za-z][ГЕД][^\\0-\\x7f]|[ГЕД][^\\0-\\x7fА-яЁё](?=[a-z])|[√├][^\\0-\\x7f]",
];

const DOUBTS: ReadonlyArray<Readonly<{ doubt: Doubt; pattern: RegExp }>> = [
  { doubt: "replacement character", pattern: /[\ufffd\ufffe\uffff]|ï¿½/ },
  { doubt: "mojibake", pattern: new RegExp(MOJIBAKE.join("|"), "u") },
  {
    doubt: "HTML",
    pattern: /&(?:[A-Za-z][A-Za-z0-9]{1,9}|#\d{1,7}|#[xX][\dA-Fa-f]{1,6});|<\/?[A-Za-z][A-Za-z0-9]{0,9}(?:\s[^<>]{0,200})?\/?>|<!--/,
  },
  { doubt: "control character", pattern: /(?![\t\n\r])\p{Cc}/u },
  {
    doubt: "invisible character",
    // Joiners belong between letters of Arabic and Indic scripts, and in emoji.
    pattern:
      /[\xad\u200b\u2060-\u2064\ufeff]|[\u200c\u200d](?![\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\p{Extended_Pictographic}])(?<![\u0900-\u0dff]\p{M}?[\u200c\u200d])|(?<![\p{L}\p{M}\p{Extended_Pictographic}\ufe0f\p{Emoji_Modifier}])[\u200c\u200d]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u,
  },
];

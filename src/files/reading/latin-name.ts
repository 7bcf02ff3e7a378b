/** How genera and epithets mostly end. Few words of other languages do, and rarely two in a row. */
const GENUS = "a|us|um|is|es|os|as|ys|on|er|or|x|i|o";
const EPITHET = "a|us|um|is|es|os|er|or|x|i|ns|ys";
const SHORT = "(?:sp|spp|ssp|cv|cf|aff|subsp|var)\\.|['‘\"]\\p{Lu}";
/** English, as in `Status code` and `Apple tree`; and small words, as in `Liste der Pflanzen`. */
const OTHERS =
  "(?!(?:der|des|les|las|los|das|dos|is|us|for|per|under|over|name|date|code|type|note|size|state|place|house|tree|rose|pine)(?!\\p{L}))";
// Only one of both ends in e, as in `Aloe vera` and `Acer rupestre`: those of English often do.
const ENDINGS = `(?:(?:${GENUS}) (?:[×x] ?)?(?:${SHORT}|${OTHERS}[\\p{Ll}-]+(?:${EPITHET}|e)(?![\\p{L}-]))|e (?:[×x] ?)?(?:${SHORT}|${OTHERS}[\\p{Ll}-]+(?:${EPITHET})(?![\\p{L}-])))`;
const LATIN = new RegExp(`^[×x+]? ?\\p{Lu}[\\p{Ll}-]*${ENDINGS}`, "u");

/** Longer than any beginning that shows it. */
const BEGINNING = 100;

/** As in `Quercus robur`, `× Cuprocyparis leylandii` and `Rosa 'Peace'`. */
export function isLatin(cell: string): boolean {
  return LATIN.test(cell.slice(0, BEGINNING));
}

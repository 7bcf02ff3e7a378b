import { normalize } from "./normalization.ts";

/**
 * The order of names: the first level of Unicode's root collation (CLDR), where letter case and accents do not count. It
 * is our own table, because the collation of a database or a runtime changes with its version, which silently breaks an
 * index. A test compares it with the runtime's. A change of what a key is changes what stores have: see
 * docs/explanation/search.md.
 *
 * Each line has groups of characters that are equal, in order. What decomposes to characters of a line is not listed. In
 * the first two lines, a group that does not begin in ASCII follows the group before it that does.
 */
const MARKS_AND_DIGITS = `_ -‐‑ – — , ; : ! ¡ ? ¿ . · '‘’‚‛ ‹ › "“”„‟ « » ( ) [ ] { } § ¶ @ * / \\ & # % † ‡ • \` ´ ^ ¯ ¨ ¸ ° © ® + ± ÷ × < = > ¬ | ¦ ~ ¤ ¢ $ £ ¥ € 0٠۰०০๐ 1١۱१১๑ 2٢۲२২๒ 3٣۳३৩๓ 4٤۴४৪๔ 5٥۵५৫๕ 6٦۶६৬๖ 7٧۷७৭๗ 8٨۸८৮๘ 9٩۹९৯๙`;
const LATIN =
  "a ⱥ ɐ ɑ ɒ b ʙ ƀ ɓ ƃ c ȼ ƈ ɕ dđð ɖ ɗ ƌ ȡ ẟ e ɇ ⱸ ǝ ⱻ ə ɛ ɘ ɚ ɜ ɝ ɞ ʚ ɤ f ƒ g ɡ ɢ ǥ ɠ ʛ ɣ ƣ hħ ʜ ƕ ɦ ⱨ ⱶ ɧ ʻ i ı ɪ ɨ ɩ j ȷ ɉ ʝ ɟ ʄ k ƙ ⱪ ʞ lł ʟ ƚ ⱡ ɫ ɬ ɭ ȴ ɮ ƛ ʎ m ɱ n ɴ ɲ ƞ ɳ ȵ ŋ oø ɶ ɔ ⱺ ɵ ɷ ȣ p ᵽ ƥ ɸ ⱷ q ʠ ɋ ĸ r ʀ ɍ ɹ ɺ ɻ ⱹ ɼ ɽ ɾ ɿ ʁ s ʂ ȿ ẜ ẝ ʃ ƪ ʅ ʆ t ŧ ⱦ ƫ ƭ ʈ ȶ ʇ u ʉ ɥ ʮ ʯ ɯ ɰ ʊ v ʋ ⱱ ⱴ ỽ ʌ w ⱳ ʍ x y ʏ ɏ ƴ ỿ ȝ z ƶ ȥ ʐ ʑ ɀ ⱬ ʒ ƹ ƺ ʓ þ ƿ ƻ ƨ ƽ ƅ ʔ ɂ ʼ ʕ ʡ ʢ ʖ ǀ ǁ ǂ ǃ ʗ ʘ ʬ ʭ";
const OTHERS = [
  "α β γ δ ε ϝ ͷ ϛ ζ ͱ η θ ͺι ϳ κ ϗ λ μ ν ξ ο π ϻ ϟ ϙ ρ ϼ σς τ υ φ χ ψ ω ϡ ͳ ϸ",
  "а ә ӕ б в гґ ғ ӻ ҕ ӷ д ԁ ђ ԃ ҙ е є ж ԫ җ з ԅ ԑ ѕ ӡ ԇ и ҋ і й ј к қ ӄ ҡ ҟ ҝ ԟ ԛ л ӆ ԯ ԓ ԡ љ ԉ ԕ м ӎ н ԩ ӊ ң ӈ ԣ ҥ њ ԋ о ө п ԥ ҧ ҁ р ҏ ԗ с ԍ ҫ т ԏ ҭ ћ у ү ұ ѹ ф х ӽ ӿ ҳ һ ԧ ѡ ѿ ѽ ѻ ц ҵ ч ԭ ҷ ӌ ҹ ҽ ҿ џ ш щ ъ ы ь ҍ ѣ э ю я ԙ ѥ ѧ ѫ ѩ ѭ ѯ ѱ ѳ ѵ ҩ ԝ ӏ",
  "ա ՠ բ գ դ ե զ է ը թ ժ ի լ խ ծ կ հ ձ ղ ճ մ յ ֈ ն շ ո չ պ ջ ռ ս վ տ ր ց ւ փ ք օ ֆ ՙ",
  "א ב ג ד ה ו ז ח ט י ׯ ךכ ל םמ ןנ ס ע ףפ ץצ ק ר ש ת",
  "ءٴ آ أ ٲ ٱ ؤ إ ٳ ݳ ݴ ئ ا ٮ ب ٻ پ ڀ ݐ ݑ ݒ ݓ ݔ ݕ ݖ ة ت ث ٹ ٺ ټ ٽ ٿ ج ڃ ڄ چ ڿ ڇ ح خ ځ ڂ څ ݗ ݘ ݮ ݯ ݲ ݼ د ذ ڈ ډ ڊ ڋ ڌ ڍ ڎ ڏ ڐ ۮ ݙ ݚ ر ز ڑ ڒ ړ ڔ ڕ ږ ڗ ژ ڙ ۯ ݛ ݫ ݬ ݱ س ش ښ ڛ ڜ ۺ ݜ ݭ ݰ ݽ ݾ ص ض ڝ ڞ ۻ ط ظ ڟ ع غ ڠ ۼ ݝ ݞ ݟ ف ڡ ڢ ڣ ڤ ڥ ڦ ݠ ݡ ٯ ق ڧ ڨ ك ک ڪ ګ ڬ ݿ ڭ ڮ گ ڰ ڱ ڲ ڳ ڴ ݢ ػ ؼ ݣ ݤ ل ڵ ڶ ڷ ڸ ݪ م ݥ ݦ ن ں ڻ ڼ ڽ ڹ ݧ ݨ ݩ ه ھ ہ ۃ ۿ ە وۥ ۄ ۅ ۆ ۇ ۈ ۉ ۊ ۋ ۏ ݸ ݹ ى يۦ ی ۍ ێ ې ۑ ؽ ؾ ؿ ؠ ݵ ݶ ݷ ے ݺ ݻ",
  "ー ぁあァア ぃいィイ ぅうゥウ ぇえェエ ぉおォオ かゕカヵ きキ くク けゖケヶ こコ さサ しシ すス せセ そソ たタ ちチ っつッツ てテ とト なナ にニ ぬヌ ねネ のノ はハ ひヒ ふフ へヘ ほホ まマ みミ むム めメ もモ ゃやャヤ ゅゆュユ ょよョヨ らラ りリ るル れレ ろロ ゎわヮワ ゐヰ ゑヱ をヲ んン",
] as const;

/** Letters that stand for others. */
const SPELLED = {
  æ: "ae",
  œ: "oe",
  ß: "ss",
  ŀ: "l",
  Ŀ: "l",
  ỻ: "ll",
  װ: "וו",
  ױ: "וי",
  ײ: "יי",
  ٵ: "ءا",
  ٶ: "ءو",
  ٷ: "ءۇ",
  ٸ: "ءي",
} as const;

/** Marks and controls, which do not count: those of the scripts above, and some of others. */
const IGNORED = new RegExp(
  String.raw`[\0-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u0300-\u0362\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0640\u064b-\u065f\u0670\u06d6-\u06dd\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093c\u0951-\u0954\u0981-\u0983\u09bc\u0e47-\u0e4e\u0ec8-\u0ece\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20f0\u3099\u309a\ufe00-\ufe0f\ufeff]`,
  "gu",
);

/** In Thai and Lao some vowels are written before their consonant, and count behind it. */
const VOWEL_FIRST = /([\u0e40-\u0e44])([\u0e01-\u0e2e])|([\u0ec0-\u0ec4])([\u0e81-\u0eae\u0edc-\u0edf])/gu;

const SYMBOL = /^[\u2010-\u2bff\u3000-\u303f\u{1f000}-\u{1faff}]/u;

/** How much of a name counts, in characters, and of its key, in hexadecimal digits: an index cannot hold a long one. */
const COUNTED_MAX = 100;
const KEY_LENGTH_MAX = 600;

/** Signs that a name may begin with, and that do not count there: ×Cuprocyparis is beside Cuprocyparis, ʻŌhiʻa among O. */
const LEADING = /^(?:(?:[×+'’‘`ʻʼ]|x(?=\s*\p{Lu}))\s*)+(?=\p{L})/u;

/** Where most names begin, without any of these signs. */
const LETTER = /^[A-Za-wyz]/;

const COUNTED = new RegExp(`^.{0,${COUNTED_MAX}}`, "su");

/** In UTF-8: above all characters of names, and above the table. */
const TOP = toHex("\u{10fffd}");
const ABOVE = "\u07ff";

// Both are made for the first name that is put into order: to make them takes as long as a tenth of a start, and most
// threads order no name.
let table: ReadonlyMap<string, string> | undefined;
let asciiWeights: readonly string[] | undefined;

/** Characters that are not in the table and were met. */
const met = new Map<string, string>();
const MET_MAX = 20_000;

/**
 * What names are ordered by: at most 300 bytes, in hexadecimal. Names that differ only in case and accents have the
 * same. It depends on the name alone.
 */
export function nameKey(name: string): string {
  const counted = name.length > COUNTED_MAX ? COUNTED.exec(name)![0] : name;
  const start = LETTER.test(counted) ? counted : counted.replace(LEADING, "");
  asciiWeights ??= Array.from({ length: 128 }, (_, code) => weigh(String.fromCharCode(code)));
  let key = "";
  for (let at = 0; at < start.length; at += 1) {
    const code = start.charCodeAt(at);
    if (code > 127) return keyOfUnicode(start);
    key += asciiWeights[code]!;
  }
  return key;
}

function keyOfUnicode(text: string): string {
  // Never cut, because stores have these keys: as counted, the text is short.
  const spoken = normalize(text, "NFC", 2 * COUNTED_MAX).replaceAll(VOWEL_FIRST, "$2$1$4$3");
  return Array.from(spoken, (character) => listed(character) ?? weightOf(character))
    .join("")
    .slice(0, KEY_LENGTH_MAX);
}

function weightOf(character: string): string {
  const known = met.get(character);
  if (known !== undefined) return known;
  if (met.size >= MET_MAX) met.clear();
  const weight = weigh(character);
  met.set(character, weight);
  return weight;
}

/** The weight of a character by what it consists of. */
function weigh(character: string): string {
  // Composed again, a syllable of Hangul is one character.
  const parts = normalize(normalize(character, "NFKD").toLowerCase().replaceAll(IGNORED, ""), "NFC");
  return Array.from(parts, (part) => listed(part) ?? unlisted(part)).join("");
}

/** The weight of a character of the table. */
function listed(character: string): string | undefined {
  table ??= toWeights();
  return table.get(character);
}

/** Characters outside the table follow it in the order of their code points, symbols before digits. */
function unlisted(character: string): string {
  if (/^\s/u.test(character)) return listed(" ")!;
  if (SYMBOL.test(character)) return listed("$")! + TOP + toHex(character);
  return toHex(character > ABOVE ? character : ABOVE + character);
}

function toWeights(): Map<string, string> {
  const weights = new Map([[" ", toHex("\u0001")]]);
  let rank = 1;
  let last = "";
  let others = 0;

  function add(group: string, isBehind: boolean): void {
    others = isBehind ? others + 1 : 0;
    if (!isBehind) last = toHex(String.fromCharCode((rank += 1)));
    const weight = isBehind ? last + TOP + toHex(String.fromCharCode(others)) : last;
    for (const character of group) {
      weights.set(character, weight);
      // In capitals ı is I, which is another letter.
      if (!weights.has(character.toUpperCase())) weights.set(character.toUpperCase(), weight);
    }
  }

  for (const group of `${MARKS_AND_DIGITS} ${LATIN}`.split(" ")) add(group, group.charCodeAt(0) > 127);
  for (const group of OTHERS.join(" ").split(" ")) add(group, false);
  for (const [letter, like] of Object.entries(SPELLED)) weights.set(letter, Array.from(like, (other) => weights.get(other)!).join(""));
  return weights;
}

function toHex(text: string): string {
  return new TextEncoder().encode(text).toHex();
}

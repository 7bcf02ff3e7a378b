import { openTextDecoder } from "./encodings.ts";
/**
 * The encodings that a text is likeliest in, best first: those in which every byte has a letter, by how well the letters
 * fit one of their languages, and how common those are in it. Of those that read the text alike, only the first. The
 * text needs no more than some thousand bytes.
 */
export function rankEncodings(bytes: Uint8Array): readonly string[] {
  const scores = CANDIDATES.flatMap(({ encoding, alphabets }) => {
    const text = decode(bytes, encoding);
    if (text === undefined) return [];
    const fit = Math.max(...alphabets.map((alphabet) => fitOf(text, alphabet)));
    return [{ encoding, text, score: fit + (TWO_BYTES[encoding]?.(bytes) ?? 0) }];
  });
  const ranked = scores.toSorted((a, b) => b.score - a.score);
  return ranked.filter(({ text }, at) => ranked.findIndex((other) => other.text === text) === at).map(({ encoding }) => encoding);
}

/** The start of a file may end within a letter. */
function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    const text = openTextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
    return /[\x80-\x9f\p{Co}\p{Cn}]/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** From -1 to 1: how usual the letters beyond ASCII are, of which the language has the first most often. */
function fitOf(text: string, alphabet: string): number {
  let sum = 0;
  let count = 0;
  const isLatin = /[a-zà-öø-ÿ\u0100-\u024f]/.test(alphabet);
  const fits = new Map<string, number>();
  let before = " ";
  for (const letter of text) {
    if (letter > "\x7f") {
      const fit = fits.get(letter) ?? letterFit(letter, alphabet);
      fits.set(letter, fit);
      sum += fit - (breaksWord(before, letter, isLatin) ? 1 : 0);
      count += 1;
    } else if (!isLatin && /[A-Za-z]/.test(letter) && isForeignLetter(before)) {
      sum -= 1;
    }
    before = letter;
  }
  return count === 0 ? 0 : sum / count;
}

function letterFit(letter: string, alphabet: string): number {
  if (/[\uac00-\ud7a3]/.test(letter)) return alphabet === "한" ? 0.9 : -1;
  if (/[\u3041-\u30ff]/.test(letter)) return alphabet === "か" ? 1 : 0;
  if (/\p{Script=Han}/u.test(letter)) return alphabet === "木" ? 0.6 : alphabet === "か" ? 0.5 : -0.5;
  if (!/[\p{L}\p{M}]/u.test(letter)) return /[×–—‘’“”„°®\xa0«»、。・（）ー\u200c\u3000]/.test(letter) ? 0.2 : -1;
  const at = alphabet.indexOf(letter.toLowerCase());
  return at === -1 ? -1 : 1 - (0.6 * at) / Math.max(alphabet.length, 12);
}

/** A capital behind a small letter, or another script within a word. */
function breaksWord(before: string, letter: string, isLatin: boolean): boolean {
  if (!/\p{L}/u.test(letter)) return /\p{L}/u.test(before) && /[\p{S}\p{N}¡-¿]/u.test(letter) && letter !== "®";
  if (/\p{Ll}/u.test(before) && /\p{Lu}/u.test(letter)) return true;
  return !isLatin && /[A-Za-z]/.test(before);
}

function isForeignLetter(letter: string): boolean {
  return letter > "\x7f" && /\p{L}/u.test(letter);
}

const WESTERN = ["äöüß", "éèêàçîôûâëœïù", "áéíóñúü", "ãçáéíóêõâúàô", "øæå", "äöåé", "àèòéíçóúïü", "ëïéöü"];
const CENTRAL = ["íáéěřýčžůšúňťďó", "áíýéčžťúľšďňôäóĺŕ", "łąęóżśćńź", "áéöóőüíúű", "ăîţâş", "čšžćđ", "äöüß"];
const BALTIC = ["ėšžąųūįčę", "āīēšūņļžķģčŗ", "õäöüšž", "øæå"];
const RUSSIAN = "аоеинтрслвкмдпуяыьгзбчйхжшюцщэфъё";
const CYRILLIC = [RUSSIAN, "аоиніверткслпмдуябьчзгхцйжюїєшщфґ", "аеоинртсвлкдпмзяугбчъщжцшхйюьф", "аоіенрлкситвяыудмпбшьзгйчцжўёюхэф"];
const GREEK = ["αοιερτσνκλυςπμάίόέδγήβθφύχωώξζψϊ"];

/** Those of more files first. `木` stands for Chinese, `か` for Japanese, `한` for Korean. */
const CANDIDATES: ReadonlyArray<Readonly<{ encoding: string; alphabets: readonly string[] }>> = [
  { encoding: "windows-1252", alphabets: [...WESTERN, "áðíéþöóúýæ"] },
  { encoding: "windows-1250", alphabets: CENTRAL },
  { encoding: "windows-1251", alphabets: CYRILLIC },
  { encoding: "windows-1254", alphabets: ["ıüşçğöâ"] },
  { encoding: "windows-1257", alphabets: BALTIC },
  { encoding: "windows-1253", alphabets: GREEK },
  { encoding: "windows-1255", alphabets: ["יולהתרשנםאמבקדפעחצטגכןסזףךץ"] },
  { encoding: "windows-1256", alphabets: ["اليرنمةدبتوسعحقفكشهجصطزخأإىضغآذءئؤظث", "ارینملدسگتوبشهخکزپفقحعجچآصضطغظذثژئ"] },
  { encoding: "windows-1258", alphabets: ["âôăưêơđàáéèãùúóíò\u0300\u0301\u0323\u0309\u0303"] },
  { encoding: "windows-874", alphabets: ["านรกอ่งวมยลเ้สีบตดัทิคหะไขพ์ุชผแูปจใโื็ำซฟธณญถศภึฐฉ"] },
  { encoding: "shift_jis", alphabets: ["か"] },
  { encoding: "gb18030", alphabets: ["木"] },
  { encoding: "euc-kr", alphabets: ["한"] },
  { encoding: "big5", alphabets: ["木"] },
  { encoding: "euc-jp", alphabets: ["か"] },
  { encoding: "macintosh", alphabets: WESTERN },
  { encoding: "iso-8859-2", alphabets: CENTRAL },
  { encoding: "koi8-r", alphabets: [RUSSIAN] },
  { encoding: "koi8-u", alphabets: CYRILLIC },
  { encoding: "ibm866", alphabets: CYRILLIC },
  { encoding: "iso-8859-5", alphabets: CYRILLIC },
  { encoding: "x-mac-cyrillic", alphabets: CYRILLIC },
  { encoding: "iso-8859-7", alphabets: GREEK },
  { encoding: "iso-8859-6", alphabets: ["اليرنمةدبتوسعحقفكشهجصطزخأإىضغآذءئؤظث"] },
  { encoding: "iso-8859-8", alphabets: ["יולהתרשנםאמבקדפעחצטגכןסזףךץ"] },
  { encoding: "iso-8859-15", alphabets: [...WESTERN, "äöšžåõü"] },
  { encoding: "iso-8859-13", alphabets: BALTIC },
  { encoding: "iso-8859-4", alphabets: BALTIC },
  { encoding: "iso-8859-16", alphabets: ["ăîțâș", ...CENTRAL.slice(2, 6)] },
  { encoding: "iso-8859-3", alphabets: ["ĉĝĥĵŝŭ", "ħżġċàòùì"] },
  { encoding: "iso-8859-10", alphabets: ["áðíéþöóúýæ", ...BALTIC, "áčđŋšŧž"] },
  { encoding: "iso-8859-14", alphabets: ["ŵŷâêîôûïöáéíóú", "ḃċḋḟġṁṗṡṫáéíóú"] },
];

/** The share of letters whose first byte is one of the usual, of encodings with two bytes a letter. */
const TWO_BYTES: Readonly<Record<string, (bytes: Uint8Array) => number>> = {
  gb18030: (bytes) => share(bytes, 0xb0, 0xd7) - 1,
  big5: (bytes) => share(bytes, 0xa4, 0xc6) - 1,
  "euc-kr": (bytes) => share(bytes, 0xb0, 0xc8) - 1,
  "euc-jp": (bytes) => share(bytes, 0xa4, 0xcf) - 1,
  shift_jis: (bytes) => share(bytes, 0x82, 0x97) - 1,
};

function share(bytes: Uint8Array, from: number, to: number): number {
  let usual = 0;
  let all = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte < 0x80) continue;
    all += 1;
    if (byte >= from && byte <= to) usual += 1;
    at += 1;
  }
  return all === 0 ? 1 : usual / all;
}

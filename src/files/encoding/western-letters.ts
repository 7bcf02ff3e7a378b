/**
 * Whether a text that was decoded as Windows-1252 is very likely meant so. Other encodings read as Windows-1252 show signs
 * inside of words, capitals behind small letters, or letters beside letters that the languages of Windows-1252 never put
 * there. A single such place decides against it. Letters at places that other encodings have too need proof elsewhere in
 * the text.
 */
export function isLikelyWindows1252(text: string): boolean {
  if (!/[^\0-\x7f]/.test(text)) return true;
  const plain = text.replaceAll(MEANT_SIGNS, " ");
  if (!ONLY_LETTERS.test(plain) || FOREIGN_LETTERS.test(plain)) return false;
  const words = plain.match(/[A-Za-zß-öø-ÿÀ-ÖØ-ÞŒœ]+/g)?.filter((word) => /[^A-Za-z]/.test(word)) ?? [];
  if (!words.every((word) => ONE_LANGUAGE.test(word.toLowerCase()))) return false;
  const clear = words.filter((word) => !DOUBTFUL_WORD.test(word)).map((word) => word.toLowerCase());
  const sum = (pattern: RegExp) => clear.reduce((total, word) => total + (word.match(pattern) ?? []).length, 0);
  const lone = (plain.match(LONE_A) ?? []).length;
  const isProven = (letter: RegExp, proof: RegExp, doubts: number) => {
    const proven = sum(proof) + lone;
    return PROOF_WEIGHT * proven >= sum(letter) + doubts - proven;
  };
  const doubts = (text.match(DOUBTFUL_SIGNS) ?? []).length + words.length - clear.length;
  return isProven(LETTER_OF_FIRST, PROOF_OF_FIRST, 0) && isProven(LETTER, PROOF, doubts);
}

/** Where a place is proven, so many more that other encodings have too are believed. */
const PROOF_WEIGHT = 3;

/** Signs where people write them. */
const MEANT_SIGNS = new RegExp(
  [
    // Hybrids and measures.
    /(?<![^\s"',;(])×(?=[ \xa0]\p{L}|\p{Lu}\p{Ll})|(?<=[A-Z][a-z]+ )×(?=[a-z])|(?<=\d ?)×(?= ?\d)/u,
    /(?<=\d ?)[°€½¼¾]|(?<=\d)[ºª](?!\p{L})|[€£±](?= ?\d)|(?<=\d ?[ck]?m)[²³]|©(?= ?\d{4})/u,
    // Names of cultivars. Old Macs have a letter for this ™.
    /(?<=[a-z]{3}['"’”]?)[®™](?!\p{L})/u,
    /(?<!\p{L})(?:‘(?=[\w ][^‘’\n]*’(?!\p{L}))|“(?=[\w ][^“”\n]*”(?!\p{L}))|„(?=[\w ][^„“”\n]*[“”](?!\p{L}))|«(?=[\w ][^«»\n]*»)|»(?=[\w ][^«»\n]*«)|´(?=[\w ][^´\n]*´(?!\p{L})))/u,
    /(?<=(?<!\p{L})‘[^‘’\n]+)’(?!\p{L})|(?<=(?<!\p{L})[“„][^“”\n]+)[”“](?!\p{L})|(?<=«[^«»\n]+)»|(?<=»[^«»\n]+)«|(?<=(?<!\p{L})´[^´\n]+)´(?!\p{L})/u,
    // An apostrophe, as in l’arbre and St John’s wort; old Macs have í there.
    /(?<=(?<!\p{L})(?:[CcDdJjLlMmNnSsTt]|[Qq]u|[AaDdNnSs][aeu]?ll|[Uu]n))[’´](?=[AEHIOUYÂÉÈÊÎŒaehiouyàâéèêîôœ]\p{L}{2})|(?<=[gkwy]|ohn|dam|nne|ia|orge|pherd)’(?=s(?!\p{L}))/u,
    /(?<= )[–—•](?= )|(?<=\d)[–—](?=\d)|(?<=[lL])·(?=[lL])/u,
    /\xa0(?=[A-Z(×\d])|(?<=[×.,;\d] ?)\xa0/u,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gu",
);

/** They say little, because old Macs and DOS have letters at their places. */
const DOUBTFUL_SIGNS = /™/g;

/** Letters alone, and capitals that DOS and old Macs have for others. */
const DOUBTFUL_WORD = /^[^à]$|^(?=.*[A-Z])[A-ZÀ-Þ]*[ÆÇËÌÍÒ-ÖØ][A-ZÀ-Þ]*$/;

/** No sign is left. š, ž, ý, ð, þ and ÿ are those of Czech, Turkish or Icelandic more often. */
const ONLY_LETTERS = /^[\t\n\r -~À-ÏÑ-ÖØ-Üß-ïñ-öø-üŒœ]*$/;

const FOREIGN_LETTERS = new RegExp(
  [
    // A capital behind a small letter, and a small letter before or behind capitals.
    "[a-zà-ÿœ][À-ÞŒ]|[à-ÿœ][A-ZÀ-Þ]|[A-ZÀ-Þ]{2}[à-ÿœ]",
    // Words without ASCII, as of Cyrillic, Greek or Chinese.
    "[À-ÿŒœ]{3}|(?<![A-Za-z])[À-ÿŒœ]{2,}(?![A-Za-z])",
  ].join("|"),
);

/** As in Pin à crochets. */
const LONE_A = /(?<=[A-Za-z] )à(?= [A-Za-z])/g;

/** French, German, Spanish, Italian, Portuguese, Catalan, Danish and Norwegian, Swedish and Finnish, Dutch. */
const ONE_LANGUAGE = new RegExp(
  `^(?:${["àâæçèéêëîïôùûüœ", "äöüßéè", "áéíñóúü", "àèéìíîòóùú", "áâãàçéêíóôõúü", "àçèéíïòóúü", "æøåé", "åäöéü", "éëïóöüèêáä"]
    .map((letters) => `[a-z${letters}]*`)
    .join("|")})$`,
);

/**
 * Which letters stand before and behind a letter in words of these languages, and in none (of some 100,000) of a language
 * of Central Europe, the Baltic, Turkey or Wales that another encoding misreads so: `au.e` is a or u before it and e
 * behind it, `^` and `$` are the ends of a word, and nothing is any letter. First those that Windows-1250 does not have.
 */
const FIRST = {
  à: ".q",
  ã: ".e bcefhijlmnoprstvxz.o",
  å: ".dhrt gj. ^dlmprv.b ltv.e ^bdklmprstv.s bfhklmnprstv.n ^bhklmnprstv.l lmpstv.$ bfhlmprstv.g ^klprsv.k lmpr.fv lprv.m deklmprsv.p v.a lt.i",
  æ: "^befjkmnv.g bdfghijkmpstv.r bhmv.k hjktv.v dhklt.m bfghjkmpstv.l ^ksv.b bfghklmprstv.n ^dfhtv.d ks.t fjs.s hk.f l.ou",
  è: ".qx c. fghilmnpsty.r dghlmprt.s l.v dfghmstx.n amp.d ilrt.g bghlmnprt.t ilprt.c dfhlnstx.m lps.p p.l bdfmstz.$",
  ê: ".u flmnrt.m cdghlmptvz.n bfuv.t m.l dnpu.s pu.$ h.n",
  ì: "",
  ï: ".qx au.e aeou.c u.r e.f i.t",
  ò: ".f gx. dflns.$ cflmpst.r c.d cdflmprst.n lmnrt.g clnprt.s bcmnprst.l clmnt.t clmnst.m clnrt.c mpr.d flr.b clnrst.p t.x",
  õ: "o. ijr.e",
  ø: ".y ^bfgjklmns.d bdeghijnp.r ^djlstv.m ^fhjklms.n ^bdefghklrst.j jklnst.b bdghjlns.g ^bjklprs.k ^blp.s js.e bdjlst.t ^dhjlnst.v ^jknps.l bjls.f j.o djlst.p s.h",
  ù: "",
  û: "o.",
  œ: ".u ^.i",
} as const;

const OTHERS = {
  ñ: "iu.e",
  á: ".qx bcdfghnsvxz. lmprtu.nr lmprt.$t lmt.g eilmrt.c lrt.bm jlmprt.v rt.f r.i mprt.l lr.dp ^.u j.s p.z",
  â: "w. c.bn",
  ç: "n.o np.a",
  ë: ".eix eou. ai.lnt i.$fsvz a.r",
  í: ".bcglmnqrtz$ bcfghlsvxy. dmn.e djmnptu.a adeimnoptu.d ademnoptu.s dmnpt.f dnt.p dt.o dnrtu.v",
  î: "ao.t a.c",
  ô: ".$ bcdefghilmnprstvxz.",
  ú: ".djsv cfgnpst. mr.n bdlr.$ l.cmt m.l bilmr.r i.b",
  é: ".aioq$ abcdfghijklmnoprstuvwxyz.",
  ó: ".bcfglmnqrtxy$ bcfghjmvxy. ^dlnprstu.s ^deilnrst.p lprst.d",
  ä: ".adfghilnopqrtuvxz ^fkw. bghjlmnrsv.s bdhlmnprstv.c hnrst.b dhjlnrstv.m hlmrst.k",
  ö: ".afhjkop$ bdfghijklmnoprstvwz.",
  ü: ".bcdfghlmnprst abdefghijklnpqrstuwz.",
  ß: ".abefghiklmnrstuvz$ aeiou.",
} as const;

/** Words with letters that other encodings have at the ends of words too. */
const ITALIAN = "^(?:lill|citt|variet|qualit)à$|^(?:bamb|pi)ù$|^caffè$|^così$";

const LETTER = /[ß-öø-ÿœ]/g;
const LETTER_OF_FIRST = new RegExp(`[${Object.keys(FIRST).join("")}]|(?<![aeiou])(?<!^)ñ|ñ(?![aeiou])`, "g");
const PROOF_OF_FIRST = toPattern(FIRST);
const PROOF = toPattern({ ...FIRST, ...OTHERS });

function toPattern(places: Readonly<Record<string, string>>): RegExp {
  const all = Object.entries(places).flatMap(([letter, text]) =>
    text
      .split(" ")
      .filter(Boolean)
      .map((place) => {
        const [before = "", behind = ""] = place.split(".");
        return `${beside("<", before, "^")}${letter}${beside("", behind, "$")}`;
      }),
  );
  return new RegExp(`${ITALIAN}|${all.join("|")}`, "g");
}

/** A look to one side of a letter: for any of these letters, or the end of the word. */
function beside(side: "<" | "", letters: string, end: "^" | "$"): string {
  if (letters === "") return "";
  const others = letters.replace(end, "");
  const choices = [...(letters === others ? [] : [end]), ...(others === "" ? [] : [`[${others}]`])];
  return `(?${side}=${choices.join("|")})`;
}

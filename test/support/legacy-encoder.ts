/** Code pages of DOS, which no TextDecoder knows: their letters from 0x80 on. */
const DOS: Readonly<Record<string, string>> = {
  cp437:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0",
  cp850:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0",
  cp852:
    "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\xad˝˛ˇ˘§÷¸°¨˙űŘř■\xa0",
};

const TWO_BYTES = /^(?:gb|big5|euc|shift)/;

/** Encodes text by what a TextDecoder reads, or a code page of DOS says. Undefined if a letter is not in it. */
export function encodeAs(text: string, encoding: string): Uint8Array | undefined {
  if (encoding === "utf-8") return new TextEncoder().encode(text);
  if (encoding.startsWith("utf-16")) return toUtf16(text, encoding.endsWith("be"));
  if (encoding === "iso-2022-jp") return toIso2022Jp(text);
  const letters = (tables[encoding] ??= toTable(encoding));
  const bytes: number[] = [];
  for (const letter of encoding === "windows-1258" ? toVietnamese(text) : text) {
    const code = letter < "\x80" ? [letter.charCodeAt(0)] : letters.get(letter);
    if (!code) return undefined;
    bytes.push(...code);
  }
  return Uint8Array.from(bytes);
}

const tables: Record<string, ReadonlyMap<string, readonly number[]>> = {};

function toTable(encoding: string): ReadonlyMap<string, readonly number[]> {
  const table = new Map<string, readonly number[]>();
  const dos = DOS[encoding];
  if (dos) return new Map(Array.from(dos, (letter, at) => [letter, [0x80 + at]]));
  const decoder = new TextDecoder(encoding as "utf-8");
  const add = (code: readonly number[]) => {
    const letter = decoder.decode(Uint8Array.from(code));
    if (Array.from(letter).length === 1 && letter > "\x9f" && letter !== "\ufffd" && !table.has(letter)) table.set(letter, code);
  };
  for (let first = 0x80; first < 0x100; first += 1) {
    add([first]);
    if (TWO_BYTES.test(encoding)) for (let second = 0x40; second < 0xff; second += 1) add([first, second]);
  }
  return table;
}

function toUtf16(text: string, isBigEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let at = 0; at < text.length; at += 1) view.setUint16(at * 2, text.charCodeAt(at), !isBigEndian);
  return new Uint8Array(view.buffer);
}

/** Its two bytes are those of EUC-JP without their highest bits, between escape sequences. */
function toIso2022Jp(text: string): Uint8Array | undefined {
  const bytes: number[] = [];
  for (const run of text.match(/[\0-\x7f]+|[^\0-\x7f]+/g) ?? []) {
    const code = encodeAs(run, "euc-jp");
    if (!code) return undefined;
    bytes.push(...(run < "\x80" ? code : [0x1b, 0x24, 0x42, ...code.map((byte) => byte & 0x7f), 0x1b, 0x28, 0x42]));
  }
  return Uint8Array.from(bytes);
}

/** Windows-1258 has marks of tones for themselves: ế is ê and a mark. */
function toVietnamese(text: string): string {
  return Array.from(text, (letter) => {
    const [base = "", ...marks] = letter.normalize("NFD");
    const tone = marks.find((mark) => "\u0300\u0301\u0303\u0309\u0323".includes(mark));
    const others = marks.filter((mark) => mark !== tone).join("");
    return tone ? (base + others).normalize("NFC") + tone : letter;
  }).join("");
}

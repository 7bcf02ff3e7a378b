/** The encodings in which people's tables are, most of all, and whose letters they have. All are of the Encoding Standard. */
const ENCODINGS: readonly (readonly [encoding: string, name: string, letters?: string])[] = [
  ["utf-8", "UTF-8"],
  ["windows-1252", "Windows-1252", "Western Europe"],
  ["windows-1250", "Windows-1250", "Central Europe"],
  ["windows-1251", "Windows-1251", "Cyrillic"],
  ["windows-1253", "Windows-1253", "Greek"],
  ["windows-1254", "Windows-1254", "Turkish"],
  ["windows-1255", "Windows-1255", "Hebrew"],
  ["windows-1256", "Windows-1256", "Arabic"],
  ["windows-1257", "Windows-1257", "Baltic"],
  ["windows-1258", "Windows-1258", "Vietnamese"],
  ["windows-874", "Windows-874", "Thai"],
  ["gb18030", "GB18030", "Chinese"],
  ["big5", "Big5", "Chinese"],
  ["shift_jis", "Shift_JIS", "Japanese"],
  ["euc-jp", "EUC-JP", "Japanese"],
  ["euc-kr", "EUC-KR", "Korean"],
  ["iso-8859-2", "ISO 8859-2", "Central Europe"],
  ["iso-8859-5", "ISO 8859-5", "Cyrillic"],
  ["iso-8859-7", "ISO 8859-7", "Greek"],
  ["iso-8859-15", "ISO 8859-15", "Western Europe"],
  ["koi8-r", "KOI8-R", "Russian"],
  ["koi8-u", "KOI8-U", "Ukrainian"],
  ["ibm866", "IBM866", "Cyrillic of DOS"],
  ["macintosh", "Macintosh", "Western Europe"],
  ["x-mac-cyrillic", "Macintosh Cyrillic"],
  ["utf-16le", "UTF-16"],
  ["utf-16be", "UTF-16, big-endian"],
];

/** To choose from. */
export const USUAL = ENCODINGS.map(
  ([encoding, name, letters]) => [encoding, letters === undefined ? name : `${name}, ${letters}`] as const,
);

export function encodingName(encoding: string): string {
  return ENCODINGS.find(([one]) => one === encoding)?.[1] ?? encoding.toUpperCase();
}

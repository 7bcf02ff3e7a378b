/**
 * A page ends after the entry that brings its names and tags to this many bytes, or its JSON to this many characters. A
 * page of a thousand large plants would take 60 MB, and all other requests would wait while it is read.
 */
export const PAGE_BYTES_MAX = 2 ** 20;

/** The entries of a page as JSON. It may be shorter than what was read: a plant in JSON may be six times as long. */
export function toPageTexts<One>(found: readonly One[], render: (one: One) => string): readonly string[] {
  const texts: string[] = [];
  let length = 0;
  for (const one of found) {
    const text = render(one);
    texts.push(text);
    length += text.length;
    if (length >= PAGE_BYTES_MAX) break;
  }
  return texts;
}

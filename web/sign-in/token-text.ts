/** The token in what people paste: also the whole header, or with the quotes of a file. Undefined if there is none. */
export function parseToken(text: string): string | undefined {
  const token = text
    // Chats put marks without a width into what is copied.
    .replace(/\p{Cf}/gu, "")
    .trim()
    .replace(AROUND, "")
    .replace(/^(authorization:\s*)?(bearer\s+)?/i, "")
    .replace(AROUND, "");
  // One word of ASCII, as a header can hold it; not a file that was pasted.
  return /^[\x21-\x7e]{1,999}$/.test(token) ? token : undefined;
}

/** Quotes of any language, and what ends a sentence. A few of them: a long run would be searched for its end again from each. */
const AROUND = /^\W{1,9}|\W{1,9}$/g;

/** The last hop that a header names, and what stands before it; null when there is nothing. */
export type LastHop = Readonly<{ node: string; rest: string | null }>;

/** A parameter: a token, or a quoted text. Many proxies write addresses without the quotes that a colon needs. */
const PARAMETER = /[\t ]*([!#$%&'*+\-.^`|~\w]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))[\t ]*(?:;|$)/y;

/**
 * Reads `Forwarded` (RFC 7239) from its end, where the nearest proxy has written: whatever the client wrote before it,
 * such as a quote that it never closes, changes nothing in that. The node is empty if the element is invalid.
 */
export function lastForwarded(list: string): LastHop {
  const comma = lastComma(list);
  return { node: nodeOf(list.slice(comma + 1)), rest: comma === -1 ? null : list.slice(0, comma) };
}

/** The comma before the last element; -1 if there is none. Commas may stand in quotes, and quotes behind a backslash. */
function lastComma(list: string): number {
  let isQuoted = false;
  for (let at = list.length - 1; at >= 0; at -= 1) {
    const character = list[at];
    if (character === "," && !isQuoted) return at;
    if (character === '"' && !(isQuoted && isEscaped(list, at))) isQuoted = !isQuoted;
  }
  return -1;
}

function isEscaped(list: string, at: number): boolean {
  let before = at;
  while (before > 0 && list[before - 1] === "\\") before -= 1;
  return (at - before) % 2 === 1;
}

/** The value of `for`, which an element has once. */
function nodeOf(element: string): string {
  let node: string | undefined;
  for (let at = 0; at < element.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const [, name, quoted, plain = ""] = PARAMETER.exec(element) ?? [];
    if (name === undefined) return "";
    if (name.toLowerCase() !== "for") continue;
    if (node !== undefined) return "";
    node = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, "$1");
  }
  return node ?? "";
}

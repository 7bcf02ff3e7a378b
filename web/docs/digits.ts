declare global {
  interface JSON {
    /** TC39 "JSON.parse source text access": missing in TypeScript's own library. */
    rawJSON(text: string): unknown;
  }
}

/** Whether this browser can tell the digits of a number: Chrome 114, Firefox 135, Safari 18.4. */
export function canKeepDigits(): boolean {
  return typeof JSON.rawJSON === "function";
}

/** Parses JSON with every number that a double would round as what `JSON.stringify` writes with all its digits. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const isRounded = typeof value === "number" && context?.source !== undefined && String(value) !== context.source;
    return isRounded ? JSON.rawJSON(context.source!) : value;
  });
}

/** A JSON text with line breaks, and with every digit that it had. What is no JSON stays as it is. */
export function layOut(text: string): string {
  if (!canKeepDigits()) return text;
  try {
    return JSON.stringify(parseExact(text), undefined, 2);
  } catch {
    return text;
  }
}

/**
 * Gives a browser what the service's own readers of files use of Node's Buffer, so that the preview reads a file exactly as the service will.
 * Where there is a Buffer already, nothing happens.
 */
export function provideBuffer(): void {
  const scope = globalThis as { Buffer?: unknown };
  scope.Buffer ??= { concat, from, byteLength };
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Of text in Latin-1: its bytes. Of bytes: what gives their text in Latin-1. */
function from(source: string | ArrayBufferLike | Uint8Array, start?: string | number, length?: number): unknown {
  if (typeof source === "string") return Uint8Array.from(source, (letter) => letter.charCodeAt(0));
  const bytes = source instanceof Uint8Array ? source : new Uint8Array(source, Number(start ?? 0), length);
  return { toString: () => latin1(bytes) };
}

/** How many arguments a call takes at the least everywhere. */
const PIECE = 8_192;

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return text;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

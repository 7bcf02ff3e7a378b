import { PlantStoreError } from "./errors.ts";

/** What takes up room of a plant. */
type Content = Readonly<{ name: string; tag?: string | undefined }>;

const utf8 = new TextEncoder();

/** Throws `body_too_large` if a plant is too large. `what`: its name and tag, as the request calls them. */
export function checkSize(plant: Content, bytesMax: number, what = "The name and tag"): void {
  const fault = faultOf(plant, bytesMax);
  if (fault !== undefined) throw new PlantStoreError("body_too_large", { message: `${what} ${fault}` });
}

/**
 * Whether a plant is no larger than one that a create can make, whose body has these bytes too. As JSON it may take
 * twice as many, so that an import can read its line.
 */
export function isFitting(plant: Content, bytesMax: number): boolean {
  return faultOf(plant, bytesMax) === undefined;
}

function faultOf({ name, tag = "" }: Content, bytesMax: number): string | undefined {
  // A UTF-16 unit takes at most six bytes of JSON, so most plants need not be measured.
  if ((name.length + tag.length) * 6 <= bytesMax) return undefined;
  const text = name + tag;
  if (bytesOf(text) > bytesMax) return `have more than ${bytesMax} bytes: send shorter ones.`;
  const quotes = 2;
  if (bytesOf(JSON.stringify(text)) - quotes <= 2 * bytesMax) return undefined;
  return `have more than ${2 * bytesMax} bytes as JSON: send fewer control characters.`;
}

function bytesOf(text: string): number {
  return utf8.encode(text).length;
}

import type { NewPlant, PlantId } from "../../../src/domain/plant.ts";

/**
 * The meaning of the body of a create, by the contract and without the service's own code: a plant, or nothing if it
 * must be refused. The body of a PUT may leave out the id of its path, but not contradict it. In an import, a tag that is
 * null is none.
 */
export function readPlant(bytes: Uint8Array, { pathId, isImported = false }: Options = {}): NewPlant | undefined {
  const text = decode(bytes);
  const value = text === undefined ? undefined : parse(text);
  if (text === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { idText, isSound } = look(text);
  const { name, tag: given } = value as { name?: unknown; tag?: unknown };
  const tag = isImported && given === null ? undefined : given;
  const id = idText === undefined ? pathId : readWhole(idText);
  if (!isSound || id === undefined || (pathId !== undefined && id !== pathId)) return undefined;
  if (!isText(name) || (tag !== undefined && !isText(tag))) return undefined;
  return { id: id as PlantId, name, ...(tag === undefined ? {} : { tag }) };
}

type Options = Readonly<{ pathId?: bigint | undefined; isImported?: boolean }>;

/** A longer line of an import is refused. */
const LINE_BYTES_MAX = 131_172;

/** So is a plant with more bytes, or more than twice as many as JSON. */
const PLANT_BYTES_MAX = 65_536;

/**
 * The number of lines of NDJSON, without the empty ones, and how many of them are plants. The file and each line may
 * begin with a byte order mark.
 */
export function countLines(body: string): { lines: number; plants: number } {
  const texts = body.split("\n").map((text, at) => (at === 0 && text.startsWith(MARK) ? text.slice(MARK.length) : text));
  const lines = texts.map((text) => Buffer.from(text, "latin1")).filter((bytes) => decode(bytes)?.trim() !== "");
  const plants = lines.filter((bytes) => bytes.length <= LINE_BYTES_MAX && isPlant(bytes));
  return { lines: lines.length, plants: plants.length };
}

function isPlant(bytes: Uint8Array): boolean {
  const plant = readPlant(bytes, { isImported: true });
  const text = plant && plant.name + (plant.tag ?? "");
  if (text === undefined) return false;
  return Buffer.byteLength(text) <= PLANT_BYTES_MAX && Buffer.byteLength(JSON.stringify(text)) - 2 <= 2 * PLANT_BYTES_MAX;
}

/** The bytes of a byte order mark, a letter each. */
const MARK = "\xef\xbb\xbf";
const DEPTH_MAX = 32;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Without a byte order mark. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

/**
 * What a parser loses: the digits of the outer `id`, and whether no outer key is there twice and nothing is nested too
 * deep.
 */
function look(text: string): { idText: string | undefined; isSound: boolean } {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs) ?? [];
  const keys = new Set<string>();
  let idText: string | undefined;
  let depth = 0;
  let isSound = true;
  for (const [at, token] of tokens.entries()) {
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (depth > DEPTH_MAX) isSound = false;
    if (depth !== 1 || token !== ":") continue;
    const key = JSON.parse(tokens[at - 1]!) as string;
    if (keys.has(key)) isSound = false;
    keys.add(key);
    if (key === "id") idText = tokens[at + 1];
  }
  return { idText, isSound };
}

/** Longer than any number in a body. */
const EXPONENT_MAX = 200_000;

/** The number of these digits, exactly, if it is whole and within int64. */
function readWhole(text: string): bigint | undefined {
  const [, sign, whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return 0n;
  const shift = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, Number(exponent))) - fraction.length;
  const cut = shift < 0 ? digits.slice(shift) : "";
  const kept = shift < 0 ? digits.slice(0, shift) : digits;
  // "slice" returns all of the digits if there are fewer of them: then only a fraction is left.
  if (/[1-9]/.test(cut) || kept === "" || kept.length + Math.max(0, shift) > 19) return undefined;
  const value = BigInt(sign + kept) * 10n ** BigInt(Math.max(0, shift));
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

import { isObject, parseJson } from "../domain/json.ts";
import { toNewPlant, toText } from "../domain/plant.ts";
import { isScope } from "../domain/scope.ts";
import type { DatedPlant, StoredToken } from "../store/contents.ts";
import { TIME_MAX } from "../store/tokens.ts";
import { escapeControls } from "../runtime/terminal-text.ts";

/*
 * A backup is lines of JSON, in gzip: a head, the tokens, the plants, and an end with their numbers and the SHA-256 of
 * all lines before it. Each line is an object with one key, but that of a plant, which an import reads too.
 *
 *   {"backup":{"format":1,"version":"1.0.0","store":"SQLite /data/plants.db","at":"2026-11-22T22:30:00.000Z"}}
 *   {"token":{"id":"…","hash":"…","name":"…","scopes":["plants:read"],"created":1790000000000}}
 *   {"id":9007199254740993,"name":"Aloe vera","tag":"succulent","added":1790000000000000}
 *   {"end":{"tokens":1,"plants":1,"sha256":"…"}}
 */

/** The format that is written. All formats up to this one stay readable. */
const FORMAT = 1;

/** Ten times what the service takes for the name of a token, in UTF-16 units. */
const SHORT_MAX = 1000;

/** `store`: what it is and where, for people. `at`: the moment, as ISO 8601. */
export type BackupHead = Readonly<{ version: string; store: string; at: string }>;

export type BackupEnd = Readonly<{ tokens: number; plants: number; sha256: string }>;

/** What is wrong with a file, as it continues its name. */
export class BackupError extends Error {}

export const NO_BACKUP =
  "is not a backup of Plant Store: name a file that `plant-store backup` wrote. An export goes in with `plant-store import`.";

export function toHeadLine(head: BackupHead): string {
  return `${JSON.stringify({ backup: { format: FORMAT, ...head } })}\n`;
}

export function toTokenLine({ token: { id, ...rest }, hash }: StoredToken): string {
  return `${JSON.stringify({ token: { id, hash, ...rest } })}\n`;
}

export function toPlantLine({ added, ...plant }: DatedPlant): string {
  const text = toText(plant);
  return added === undefined ? `${text}\n` : `${text.slice(0, -1)},"added":${added}}\n`;
}

const END = '{"end":';

/** "7 plants and 1 token" */
export function summarize({ plants, tokens }: BackupEnd): string {
  return `${plants} plant${plants === 1 ? "" : "s"} and ${tokens} token${tokens === 1 ? "" : "s"}`;
}

export function toEndLine(end: BackupEnd): string {
  return `${JSON.stringify({ end })}\n`;
}

export function isEndLine(text: string): boolean {
  return text.startsWith(END);
}

export function damaged(why: string, cause?: unknown): BackupError {
  return new BackupError(`is damaged, ${why}: use another backup.`, { cause });
}

export type Line = Readonly<Record<string, unknown>>;

/** A line of any kind. Throws a BackupError, like all that follow. */
export function parseLine(text: string): Line {
  let line: unknown;
  try {
    line = parseJson(text);
  } catch (cause) {
    throw damaged("a line is not JSON", cause);
  }
  if (!isObject(line)) throw damaged("a line is not an object");
  return line;
}

export function toHead(text: string): BackupHead {
  const { backup, ...besides } = text.startsWith('{"backup":') ? parseLine(text) : {};
  if (!isObject(backup) || typeof backup["format"] !== "number" || backup["format"] < 1) throw new BackupError(NO_BACKUP);
  const { format, version, store, at, ...others } = backup;
  if (format > FORMAT) {
    throw new BackupError(
      `was written by Plant Store ${escapeControls(String(version))}, in format ${format}: restore it with that version or a newer one.`,
    );
  }
  expectNone("head", [...Object.keys(besides), ...Object.keys(others)]);
  if (Number.isNaN(Date.parse(textOf(at)))) throw damaged("its time is not as written");
  return { version: textOf(version), store: textOf(store), at: textOf(at) };
}

export function toEnd(text: string): BackupEnd {
  const { end, ...besides } = parseLine(text);
  if (!isObject(end)) throw damaged("its end is not as written");
  const { tokens, plants, sha256, ...others } = end;
  expectNone("end", [...Object.keys(besides), ...Object.keys(others)]);
  return { tokens: numberOf(tokens), plants: numberOf(plants), sha256: textOf(sha256) };
}

export function toToken({ token, ...besides }: Line): StoredToken {
  if (!isObject(token) || !Array.isArray(token["scopes"])) throw damaged("a token is not as written");
  const { id, hash, name, scopes, created, expires, revoked, parent, lastUsed, ...others } = token;
  const texts = scopes.map(textOf);
  expectNone("token", [...Object.keys(besides), ...Object.keys(others), ...texts.filter((text) => !isScope(text))]);
  return {
    hash: shortTextOf(hash),
    token: {
      id: tokenIdOf(id),
      name: shortTextOf(name),
      scopes: texts.filter(isScope),
      created: timeOf(created),
      ...(expires === undefined ? {} : { expires: timeOf(expires) }),
      ...(revoked === undefined ? {} : { revoked: timeOf(revoked) }),
      ...(parent === undefined ? {} : { parent: tokenIdOf(parent) }),
      ...(lastUsed === undefined ? {} : { lastUsed: timeOf(lastUsed) }),
    },
  };
}

export function toPlant({ id, name, tag, added, ...others }: Line): DatedPlant {
  expectNone("plant", Object.keys(others));
  if (typeof id !== "bigint" || (added !== undefined && typeof added !== "bigint")) throw damaged("a plant is not as written");
  const plant = toNewPlant({ id, name: textOf(name), ...(tag === undefined ? {} : { tag: textOf(tag) }) });
  return added === undefined ? plant : { ...plant, added };
}

/** What this version does not know it would lose. */
function expectNone(kind: "head" | "plant" | "token" | "end", [other]: readonly string[]): void {
  if (other === undefined) return;
  const name = escapeControls(JSON.stringify(other.slice(0, SHORT_MAX)));
  throw new BackupError(
    `has ${kind === "end" ? "an" : "a"} ${kind} with ${name}, which this version does not know: restore it with the version that wrote it.`,
  );
}

function textOf(value: unknown): string {
  if (typeof value !== "string" || !value.isWellFormed()) throw damaged("a text is not as written");
  return value;
}

/** As in paths of the contract: a token with another id could be listed, but not revoked over HTTP. */
function tokenIdOf(value: unknown): string {
  const text = textOf(value);
  if (!/^[0-9A-Za-z]{1,64}$/.test(text)) throw damaged("an id of a token is not as written");
  return text;
}

/** All tokens are in memory at once. */
function shortTextOf(value: unknown): string {
  const text = textOf(value);
  if (text.length > SHORT_MAX) throw damaged("a text of a token is not as written");
  return text;
}

function timeOf(value: unknown): number {
  const time = numberOf(value);
  if (time < 0 || time >= TIME_MAX) throw damaged("a time is not as written");
  return time;
}

function numberOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw damaged("a number is not as written");
  return value;
}

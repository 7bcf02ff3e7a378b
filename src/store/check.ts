import { isScope } from "../domain/scope.ts";
import { TIME_MAX } from "./tokens.ts";
import type { StoredRow } from "./tokens.ts";

/** What a check says of one part. "note": for information. "wrong": it can be rebuilt from what is there. "damaged": it cannot. */
export type Look = Readonly<{ kind: "look"; part: string; state: "ok" | "note" | "wrong" | "damaged"; text: string }>;

/** A look, or so many bytes that were looked at since the last step. */
export type CheckStep = Look | Readonly<{ kind: "progress"; bytes: number }>;

export function look(part: string, state: Look["state"], text: string): Look {
  return { kind: "look", part, state, text };
}

/** How many things a text names. */
export const NAMED_MAX = 5;

/** The first of so many, for a text. */
export function someOf(all: readonly unknown[], count = all.length): string {
  const rest = count - NAMED_MAX;
  return `${all.slice(0, NAMED_MAX).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

const HASH = /^[0-9a-f]{64}$/;

/** The file of the first token, and the hash of the one in it, if there is one. */
export type FirstTokenFile = Readonly<{ file: string; hash: string | undefined }>;

/** Looks at all tokens, and at the first one. */
export function lookAtTokens(tokens: readonly StoredRow[], { file, hash }: FirstTokenFile): Look {
  const ids = new Set(tokens.map(({ id }) => id));
  const faults = tokens.filter((token) => !isToken(token, ids)).map(({ id }) => `token ${id}`);
  if (faults.length > 0) return look("tokens", "damaged", `${someOf(faults)}: revoke each, and make another in its place`);
  if (hash === undefined || tokens.some((token) => token.hash === hash)) return look("tokens", "ok", `${tokens.length}`);
  return look("tokens", "note", `${tokens.length}. That in ${file} is none of them: remove the file, if this is the right store`);
}

function isToken({ hash, scopes, parent, created, expires, revoked, used }: StoredRow, ids: ReadonlySet<string>): boolean {
  const areTimes = [created, expires, revoked, used].every((time) => time === null || (time >= 0 && time < TIME_MAX));
  return areTimes && HASH.test(hash) && scopes.split(" ").every(isScope) && (parent === null || ids.has(parent));
}

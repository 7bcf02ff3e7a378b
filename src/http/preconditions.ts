import { PlantStoreError } from "../domain/errors.ts";
import type { NewPlant } from "../domain/plant.ts";
import { names, namesWeakly, plantEtag } from "./etag.ts";
import type { Fields } from "./wire/fields.ts";

/**
 * Checks If-Match, which compares strongly: a weak tag matches nothing (RFC 9110, 13.1.1). Throws
 * `precondition_failed`.
 */
export function checkIfMatch(headers: Fields, stored: NewPlant | undefined): void {
  const header = headers.get("if-match");
  if (header === null) return;
  if (stored && names(header, plantEtag(stored))) return;
  throw new PlantStoreError("precondition_failed", stored && ALTERED_TAG.test(header) ? { message: ALTERED } : {});
}

/** What proxies that compress make of our tags: a weak one (nginx, HAProxy), or one with a suffix (Apache: `-gzip`). */
const ALTERED_TAG = /W\/"|"[\w-]{22}[^"\w]/;
const ALTERED =
  "The tag in If-Match is weak or has a suffix, so it matches no plant: switch off compression in the proxy that altered it (nginx: gzip off), as the service compresses by itself.";

/** Whether If-None-Match rules this plant out of a response. It compares weakly (RFC 9110, 13.1.2). */
export function isRuledOut(headers: Fields, stored: NewPlant | undefined): boolean {
  const header = headers.get("if-none-match");
  return header !== null && stored !== undefined && namesWeakly(header, plantEtag(stored));
}

/** A list of tags, also an empty one, or `*` (RFC 9110, 13.1.2). Who sends or forwards `*` twice means the same. */
const CONDITION = /^[\t ,]*(?:(?:\*|(?:W\/)?"[^"]*")(?:[\t ]*,[\t ,]*(?:\*|(?:W\/)?"[^"]*"))*[\t ,]*)?$/;
const TAG = /"[^"]*"/g;

/** Checks all preconditions of a change. Throws `precondition_failed`. */
export function checkPreconditions(headers: Fields, stored: NewPlant | undefined): void {
  checkIfMatch(headers, stored);
  const header = headers.get("if-none-match");
  if (header === null) return;
  const isRuled = stored !== undefined && (header.replaceAll(TAG, "").includes("*") || namesWeakly(header, plantEtag(stored)));
  // What cannot be read may have been meant to protect the plant.
  if (isRuled || !CONDITION.test(header)) throw new PlantStoreError("precondition_failed");
}

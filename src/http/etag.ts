import { hash } from "node:crypto";
import type { NewPlant } from "../domain/plant.ts";

/**
 * The strong ETag of a plant (RFC 9110, 8.8.3). No two plants give the same text to hash, because the length says where
 * the name ends.
 */
export function plantEtag({ id, name, tag }: NewPlant): string {
  return `"${digest(`${id}:${name.length}:${name}${tag === undefined ? "" : `:${tag}`}`)}"`;
}

/**
 * The ETag of a text that depends only on what is stored. When a first plant follows a page, its text stays the same but
 * it gets a Link. That it has one is enough: the rest of the Link follows from the page.
 */
export function textEtag(body: string, hasLink: boolean): string {
  return `"${digest(body)}${hasLink ? "+" : ""}"`;
}

/** The ETags of a file's forms: one hash for all, because they have the same content, and each ends in its coding. */
export function fileEtags(body: Uint8Array): (coding: string) => string {
  const mark = digest(body);
  return (coding) => (coding === "identity" ? `"${mark}"` : `"${mark}-${coding}"`);
}

/** Whether an If-None-Match names this ETag. It compares weakly (RFC 9110, 13.1.2). */
export function namesWeakly(header: string, etag: string): boolean {
  return names(header.replaceAll('W/"', '"'), etag);
}

/** Whether an If-Match names this ETag. It compares strongly (RFC 9110, 13.1.1). */
export function names(header: string, etag: string): boolean {
  return header === "*" || header.split(",").some((tag) => tag.trim() === etag);
}

/** 128 bits of a SHA-256. */
function digest(content: string | Uint8Array): string {
  return hash("sha256", content, "base64url").slice(0, 22);
}

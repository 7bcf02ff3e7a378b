import { hash } from "node:crypto";
import { chooseCoding } from "./accept.ts";
import type { Coding } from "./accept.ts";
import type { HttpResponse } from "./wire/response.ts";
import { namesWeakly } from "./preconditions.ts";
import type { Fields } from "./wire/fields.ts";

/** A file that never changes while the service runs, in the forms in which it may be sent, the smallest first. */
export type File = Readonly<{ headers: Readonly<Record<string, string>>; forms: readonly Form[] }>;

type Form = Readonly<{ coding: Coding; body: Uint8Array<ArrayBuffer>; etag: string }>;

type FileOptions = Readonly<{
  headers: Readonly<Record<string, string>>;
  body: Uint8Array<ArrayBuffer>;
  /** The same content, compressed, the smallest first. */
  packed: ReadonlyArray<Readonly<{ coding: Coding; body: Uint8Array<ArrayBuffer> }>>;
}>;

export function createFile({ headers, body, packed }: FileOptions): File {
  // One hash for all forms, because they have the same content. Each tag ends in its coding.
  const mark = hash("sha256", body, "base64url").slice(0, 22);
  const forms = packed.map((form) => ({ ...form, etag: `"${mark}-${form.coding}"` }));
  return { headers: { ...headers, vary: "Accept-Encoding" }, forms: [...forms, { coding: "identity", body, etag: `"${mark}"` }] };
}

/** The form that the client prefers, or 304 when it has that one already. */
export function answerFile({ headers, forms }: File, requested: Fields): HttpResponse {
  const wanted = chooseCoding(
    requested.get("accept-encoding"),
    forms.map(({ coding }) => coding),
  );
  const { coding, body, etag } = forms.find((form) => form.coding === wanted) ?? forms.at(-1)!;
  const all = { ...headers, etag };
  const known = requested.get("if-none-match");
  if (known !== null && namesWeakly(known, etag)) return { status: 304, headers: withoutType(all) };
  return { status: 200, body, headers: coding === "identity" ? all : { ...all, "content-encoding": coding } };
}

/** A 304 carries what a cache must update, and nothing about a body that it does not have. */
function withoutType(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { "content-type": _, ...rest } = headers;
  return rest;
}

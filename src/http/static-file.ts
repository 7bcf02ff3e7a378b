import { chooseCoding } from "./accept.ts";
import type { Coding } from "./accept.ts";
import type { HttpResponse } from "./wire/response.ts";
import { fileEtags, namesWeakly } from "./etag.ts";
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
  const etagOf = fileEtags(body);
  const forms = [...packed, { coding: "identity" as const, body }].map((form) => ({ ...form, etag: etagOf(form.coding) }));
  return { headers: { ...headers, vary: "Accept-Encoding" }, forms };
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

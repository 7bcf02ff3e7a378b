import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { PlantStoreError } from "../errors.ts";
import { chooseCoding } from "./accept.ts";
import type { Coding } from "./accept.ts";
import type { Answer } from "./answer.ts";
import { namesWeakly } from "./conditions.ts";
import type { Incoming } from "./wire/connection.ts";
import type { Fields } from "./wire/fields.ts";

/** Answers for the paths that are no operations: the pages for people, which need no token, and their files. Throws `unknown_path` for all others. */
export type Pages = (path: string, request: Incoming) => Answer;

/** One file in the forms in which it may be sent, the smallest first. */
type File = Readonly<{ headers: Readonly<Record<string, string>>; forms: readonly Form[] }>;

type Form = Readonly<{ coding: Coding; body: Uint8Array<ArrayBuffer>; etag: string }>;

const ALLOW = "GET, HEAD, OPTIONS";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

/** A page runs its own scripts and asks its own service: nothing that gets into it by a plant's name can run, or tell anybody. */
const HTML_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

const NOT_BUILT = "The page is not built: run `npm run build:web` and start the service again.";

/** Reads the built pages, once and whole. Without a build there are none, and the path of the first says so. */
export function loadPages(folder: string): Pages {
  const files = readFiles(folder);
  return (path, request) => {
    const file = files.get(path);
    if (!file) throw new PlantStoreError("unknown_path", path === "/" ? { message: NOT_BUILT } : {});
    if (request.method === "OPTIONS") return { status: 204, headers: { allow: ALLOW } };
    if (!ALLOW.split(", ").includes(request.method)) throw new PlantStoreError("method_not_allowed", { headers: { allow: ALLOW } });
    return toAnswer(file, request.headers);
  };
}

/** All files by their paths: `index.html` stands at `/`, `name.html` at `/name`, every other file under its own name. */
function readFiles(folder: string): ReadonlyMap<string, File> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
  const plain = names.filter((name) => !/\.(br|gz)$/.test(name));
  return new Map(plain.map((name) => [toPath(name), readFile(folder, name)]));
}

function toPath(name: string): string {
  return `/${name.replace(/(^index)?\.html$/, "")}`;
}

function readFile(folder: string, name: string): File {
  const path = join(folder, name);
  const body = readFileSync(path);
  // One hash for all forms: each is made from the same content, and its tag ends in its coding.
  const mark = hash("sha256", body, "base64url").slice(0, 22);
  const forms: Form[] = [];
  for (const [ending, coding] of [
    [".br", "br"],
    [".gz", "gzip"],
  ] as const) {
    if (existsSync(path + ending)) forms.push({ coding, body: readFileSync(path + ending), etag: `"${mark}-${coding}"` });
  }
  forms.push({ coding: "identity", body, etag: `"${mark}"` });
  const type = extname(name);
  const headers = {
    "content-type": TYPES[type] ?? "application/octet-stream",
    // What stands in assets/ is named by its content.
    "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "Accept-Encoding",
    ...(type === ".html" ? HTML_HEADERS : {}),
  };
  return { headers, forms };
}

function toAnswer({ headers, forms }: File, requested: Fields): Answer {
  const wanted = chooseCoding(
    requested.get("accept-encoding"),
    forms.map(({ coding }) => coding),
  );
  const { coding, body, etag } = forms.find((form) => form.coding === wanted) ?? forms.at(-1)!;
  const all = { ...headers, etag, ...(coding === "identity" ? {} : { "content-encoding": coding }) };
  const known = requested.get("if-none-match");
  if (known !== null && namesWeakly(known, etag)) return { status: 304, headers: withoutContent(all) };
  return { status: 200, body, headers: all };
}

/** A 304 tells what a cache must update, and nothing of a body that it does not have. */
function withoutContent(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-encoding") && name !== "content-type"));
}

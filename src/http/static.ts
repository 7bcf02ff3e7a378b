import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { PlantStoreError } from "../domain/errors.ts";
import type { HttpResponse } from "./wire/response.ts";
import { SECURITY_TEXT_PATH, securityText } from "./security-text.ts";
import { answerFile, createFile } from "./static-file.ts";
import type { File } from "./static-file.ts";
import type { HttpRequest } from "./wire/request.ts";

/**
 * Serves the paths that are not operations: the pages for people, which need no token, and their files. Throws
 * `unknown_path` for all others.
 */
export type Static = (path: string, request: HttpRequest) => HttpResponse;

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

/**
 * A page runs only its own scripts and calls only its own service: nothing that gets into it through a plant's name can
 * run, or send anything away.
 */
const HTML_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

const NOT_BUILT = "The page is not built: run `npm run build:web` and start the service again.";

/** Reads the built pages into memory, once. Without a build there are none, and `/` says so. */
export function loadStatic(folder: string): Static {
  const files = readFiles(folder);
  return (path, request) => {
    const file = path === SECURITY_TEXT_PATH ? securityText(request, Date.now()) : files.get(path);
    if (!file) throw new PlantStoreError("unknown_path", path === "/" ? { message: NOT_BUILT } : {});
    if (request.method === "OPTIONS") return { status: 204, headers: { allow: ALLOW } };
    if (!ALLOW.split(", ").includes(request.method)) throw new PlantStoreError("method_not_allowed", { headers: { allow: ALLOW } });
    return answerFile(file, request.headers);
  };
}

/** All files by path: `index.html` is `/`, `name.html` is `/name`, every other file keeps its name. */
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
  const packed = (
    [
      [".br", "br"],
      [".gz", "gzip"],
    ] as const
  )
    .filter(([ending]) => existsSync(path + ending))
    .map(([ending, coding]) => ({ coding, body: readFileSync(path + ending) }));
  const type = extname(name);
  const headers = {
    "content-type": TYPES[type] ?? "application/octet-stream",
    // Files in assets/ are named by their content.
    "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    ...(type === ".html" ? HTML_HEADERS : {}),
  };
  return createFile({ headers, body, packed });
}

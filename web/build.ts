// Builds what browsers load, from this folder into dist/web: the pages, bundled, and every file also compressed, as the service only picks and
// sends. `npm run build:web`; also after `npm ci`, so that a service that was just installed has its page.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { BunPlugin } from "bun";
import { CATALOGUE } from "../contract/generated/error-catalogue.ts";
import type { ErrorCode } from "../src/domain/errors.ts";

const SOURCE = fileURLToPath(new URL(".", import.meta.url));

/** Files that are served as they stand, by name. */
const AS_THEY_STAND = { "sample.csv": "sample.csv", "security-policy.txt": "../SECURITY.md" };

/** What is compressed already would only grow. */
const COMPRESSIBLE = [".css", ".csv", ".html", ".js", ".json", ".svg", ".txt"];

/** Builds into a folder, in the place of whatever was there. Another build of the same folder may run at the same time. */
export async function buildWeb(folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const making = mkdtempSync(`${folder}-`);
  try {
    await bundle(making);
    for (const [name, source] of Object.entries(AS_THEY_STAND)) cpSync(join(SOURCE, source), join(making, name));
    compress(making);
    // A folder made for the moment is for its owner alone; the user that the service runs as must be able to read this one.
    chmodSync(making, 0o755);
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } catch (reason) {
    rmSync(making, { recursive: true, force: true });
    throw reason;
  }
}

/**
 * The pages: what they name is bundled, minified and named by its content, so that browsers may keep it for good. What a page imports only when
 * it is needed is a file of its own.
 */
async function bundle(folder: string): Promise<void> {
  // One by one, because what two pages share would become a file of its own, that each has to ask for.
  for (const page of ["index.html", "docs.html"])
    await Bun.build({
      entrypoints: [join(SOURCE, page)],
      outdir: folder,
      target: "browser",
      splitting: true,
      minify: true,
      jsx: { runtime: "automatic", importSource: "preact", development: false },
      define: { "process.env.NODE_ENV": '"production"' },
      plugins: [FEW_ERRORS],
      naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
    });
}

/** What the files that people import can be refused for. */
const FILE_ERRORS = new Set<string>([
  "malformed_json",
  "nested_too_deep",
  "duplicate_key",
  "invalid_unicode",
  "invalid_body",
  "invalid_csv_header",
  "unclear_encoding",
  "unreadable_file",
  "malformed_row",
  "malformed_gzip",
  "body_too_large",
] satisfies ErrorCode[]);

/** The page has only these errors: all of them would be a tenth of the import. */
const FEW_ERRORS: BunPlugin = {
  name: "errors of files",
  setup(build) {
    build.onLoad({ filter: /error-catalogue\.ts$/ }, () => {
      const entries = Object.entries(CATALOGUE).filter(([code]) => FILE_ERRORS.has(code));
      return { loader: "js", contents: `export const CATALOGUE = ${JSON.stringify(Object.fromEntries(entries))}` };
    });
  },
};

function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSIBLE.includes(extname(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(bytes));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

if (import.meta.main) {
  if (existsSync(join(SOURCE, "../node_modules/preact"))) await buildWeb(join(SOURCE, "../dist/web"));
  else process.stdout.write("The page is not built: it needs the dependencies for development (npm ci, without --omit=dev).\n");
}

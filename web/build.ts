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
import type { BunPlugin } from "bun";
import { CATALOGUE } from "../contract/generated/error-catalogue.ts";
import { ERROR_NUMBERS } from "../src/client/client.ts";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

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

/** The pages: what they name is bundled, minified and named by its content, so that browsers may keep it for good. */
async function bundle(folder: string): Promise<void> {
  // One by one, because what two pages share would become a file of its own, that each has to ask for.
  for (const page of ["index.html", "docs.html"]) await bundlePage(folder, page);
}

/** What a page imports only when it is needed is a file of its own; the name of each has the content of all in it. */
async function bundlePage(folder: string, page: string): Promise<void> {
  await Bun.build({
    entrypoints: [join(SOURCE, page)],
    outdir: folder,
    target: "browser",
    splitting: true,
    minify: true,
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [FILE_ERRORS, ERROR_NAMES],
    naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
  });
}

/** The page has only the errors that the sources of what reads a file name: all of them would be a tenth of the import. */
const FILE_ERRORS: BunPlugin = {
  name: "errors of files",
  setup(build) {
    build.onLoad({ filter: /error-catalogue\.ts$/ }, () => {
      const folder = join(SOURCE, "../src/files");
      const paths = [
        ...readdirSync(folder).map((name) => join(folder, name)),
        ...["json", "validation"].map((name) => join(SOURCE, `../src/domain/${name}.ts`)),
      ];
      // What knows a store runs in the service alone.
      const sources = paths.map((path) => readFileSync(path, "utf8")).filter((source) => !source.includes('"../store/'));
      const entries = Object.entries(CATALOGUE).filter(([code]) => sources.some((source) => source.includes(`"${code}"`)));
      return { loader: "js", contents: `export const CATALOGUE = ${JSON.stringify(Object.fromEntries(entries))}` };
    });
  },
};

/** An error is its number in a browser: a list of all their names would be a hundredth of the first view. */
const ERROR_NAMES: BunPlugin = {
  name: "numbers of errors",
  setup(build) {
    build.onLoad({ filter: /\/(src\/client|web)\/.*\.tsx?$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const contents = text.replace(/\bERROR_NUMBERS\.(\w+)/g, (_, name: keyof typeof ERROR_NUMBERS) => String(ERROR_NUMBERS[name]));
      return { loader: path.endsWith("x") ? "tsx" : "ts", contents };
    });
  },
};

/** How distances and blocks are written. The smallest result counts: which that is changes with any few letters. */
const WAYS = [
  { [constants.BROTLI_PARAM_NPOSTFIX]: 0, [constants.BROTLI_PARAM_NDIRECT]: 1 },
  { [constants.BROTLI_PARAM_NPOSTFIX]: 1, [constants.BROTLI_PARAM_NDIRECT]: 2 },
  { [constants.BROTLI_PARAM_NPOSTFIX]: 0, [constants.BROTLI_PARAM_NDIRECT]: 4 },
  { [constants.BROTLI_PARAM_NPOSTFIX]: 1, [constants.BROTLI_PARAM_NDIRECT]: 8, [constants.BROTLI_PARAM_LGBLOCK]: 16 },
  { [constants.BROTLI_PARAM_NPOSTFIX]: 1, [constants.BROTLI_PARAM_NDIRECT]: 0 },
  { [constants.BROTLI_PARAM_NPOSTFIX]: 2, [constants.BROTLI_PARAM_NDIRECT]: 0, [constants.BROTLI_PARAM_LGBLOCK]: 16 },
].map((way) => ({ ...way, [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }));

function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSIBLE.includes(extname(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const packed = WAYS.map((way) => brotliCompressSync(bytes, { params: { ...way, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
    writeFileSync(
      `${path}.br`,
      packed.reduce((left, right) => (right.length < left.length ? right : left)),
    );
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

if (import.meta.main) {
  if (existsSync(join(SOURCE, "../node_modules/preact"))) await buildWeb(join(SOURCE, "../dist/web"));
  else process.stdout.write("The page is not built: it needs the dependencies for development (npm ci, without --omit=dev).\n");
}

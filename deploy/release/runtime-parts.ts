// The libraries that the runtime is linked with: an advisory names these, not Bun.

/** A component of CycloneDX, without a sum: what is linked has no file of its own. */
export type RuntimePart = Readonly<{
  "bom-ref": string;
  type: "library";
  name: string;
  version?: string;
  description?: string;
  scope: "required";
  purl: string;
  licenses: readonly Readonly<{ license: Readonly<{ id: string }> | Readonly<{ name: string }> }>[];
}>;

type Source = Readonly<{ name: string; repository: string; licence: string; about?: string }>;

/** By the key of `process.versions`. Licences are those of Bun's LICENSE.md; of two to choose from, the shorter one. */
const LINKED: Readonly<Record<string, Source>> = {
  ares: { name: "c-ares", repository: "c-ares/c-ares", licence: "MIT" },
  boringssl: { name: "boringssl", repository: "oven-sh/boringssl", licence: "" },
  icu: { name: "icu", repository: "unicode-org/icu", licence: "Unicode-3.0" },
  libarchive: { name: "libarchive", repository: "libarchive/libarchive", licence: "" },
  libdeflate: { name: "libdeflate", repository: "ebiggers/libdeflate", licence: "MIT" },
  llhttp: { name: "llhttp", repository: "nodejs/llhttp", licence: "MIT" },
  lolhtml: { name: "lol-html", repository: "cloudflare/lol-html", licence: "BSD-3-Clause" },
  lshpack: { name: "ls-hpack", repository: "litespeedtech/ls-hpack", licence: "MIT" },
  mimalloc: { name: "mimalloc", repository: "oven-sh/mimalloc", licence: "MIT" },
  picohttpparser: { name: "picohttpparser", repository: "h2o/picohttpparser", licence: "MIT" },
  sqlite: { name: "sqlite", repository: "sqlite/sqlite", licence: "blessing" },
  tinycc: { name: "tinycc", repository: "oven-sh/tinycc", licence: "LGPL-2.1-or-later" },
  usockets: { name: "usockets", repository: "oven-sh/bun", licence: "Apache-2.0" },
  uv: { name: "libuv", repository: "libuv/libuv", licence: "MIT", about: "On Windows only." },
  uwebsockets: { name: "uwebsockets", repository: "oven-sh/bun", licence: "Apache-2.0" },
  webkit: { name: "webkit", repository: "oven-sh/WebKit", licence: "LGPL-2.0-or-later", about: "JavaScriptCore." },
  zig: { name: "zig", repository: "oven-sh/zig", licence: "MIT" },
  zlib: { name: "zlib-ng", repository: "zlib-ng/zlib-ng", licence: "Zlib" },
  zstd: { name: "zstd", repository: "facebook/zstd", licence: "BSD-3-Clause" },
};

/** Linked too, in versions that Bun does not report. */
const UNVERSIONED: readonly Source[] = [
  { name: "base64", repository: "aklomp/base64", licence: "BSD-2-Clause" },
  { name: "brotli", repository: "google/brotli", licence: "MIT" },
  { name: "highway", repository: "google/highway", licence: "Apache-2.0" },
  { name: "libjpeg-turbo", repository: "libjpeg-turbo/libjpeg-turbo", licence: "BSD-3-Clause" },
  { name: "libspng", repository: "randy408/libspng", licence: "BSD-2-Clause" },
  { name: "libwebp", repository: "webmproject/libwebp", licence: "BSD-3-Clause" },
  { name: "lsquic", repository: "litespeedtech/lsquic", licence: "MIT" },
  { name: "ls-qpack", repository: "litespeedtech/ls-qpack", licence: "MIT" },
  { name: "simdutf", repository: "simdutf/simdutf", licence: "Apache-2.0" },
];

/** Versions of interfaces that Bun offers or imitates, and its own. */
const NO_LIBRARIES = ["bun", "modules", "napi", "node", "openssl", "typescript", "unicode", "v8"];

/** All parts, in the versions of `process.versions`. Throws for a library that no one has described here. */
export function runtimeParts(versions: Readonly<Record<string, string | undefined>>): readonly RuntimePart[] {
  const unknown = Object.keys(versions).filter((key) => !(key in LINKED) && !NO_LIBRARIES.includes(key));
  if (unknown.length > 0) throw new Error(`Bun contains ${unknown.join(", ")}: describe it in deploy/release/runtime-parts.ts.`);
  const versioned = Object.entries(LINKED).map(([key, source]) => toPart(source, versions[key]));
  return [...versioned, ...UNVERSIONED.map((source) => toPart(source))];
}

function toPart({ name, repository, licence, about }: Source, version?: string): RuntimePart {
  const isCommit = version === undefined || /^[0-9a-f]{40}$/.test(version);
  const purl = isCommit ? `pkg:github/${repository.toLowerCase()}` : `pkg:generic/${name}`;
  return {
    "bom-ref": `bun/${name}`,
    type: "library",
    name,
    ...(version === undefined ? {} : { version }),
    ...(about === undefined ? {} : { description: about }),
    scope: "required",
    purl: version === undefined ? purl : `${purl}@${version}`,
    licenses: [{ license: licence === "" ? { name: "Several: see its LICENSE" } : { id: licence } }],
  };
}

import type { PlantedBug } from "../test/support/plant-bugs.ts";

/**
 * Edits that leave a step out of the service. A step that is left out still lets creates succeed: a failed request
 * fails the bench.
 */
export const WITHOUT = {
  search: [
    { file: "src/store/sqlite/search/changes.ts", from: "insert.run(", to: "((..._: unknown[]) => {})(" },
    { file: "src/store/sqlite/commits.ts", from: "searcher?.index.follow();", to: "" },
  ],
  "sync of the disk": [
    { file: "src/store/sqlite/engine/requirements.ts", from: "PRAGMA synchronous = FULL", to: "PRAGMA synchronous = OFF" },
    { file: "src/store/sqlite/engine/requirements.ts", from: "want: 2 }", to: "want: 0 }" },
  ],
  store: [
    {
      file: "src/store/sqlite/plants.ts",
      from: "create: commits.group.create,",
      to: 'create: async (plant, { whileWriting } = {}) => { whileWriting?.(); return "created"; },',
    },
  ],
  ETag: [{ file: "src/http/etag.ts", from: 'hash("sha256", content, "base64url")', to: '"as-long-as-an-ETag-is."' }],
  "request id": [
    { file: "src/http/exchange.ts", from: "givenId(request.headers) ?? randomUUID()", to: '""' },
    { file: "src/http/response-completion.ts", from: "x-request-id: ${requestId}\\r\\n", to: "" },
  ],
  "token, rights and rate limits": [{ file: "src/http/app.ts", from: "if (!scope) return this.#admit", to: "return this.#admit" }],
  // The first ten thousand bodies, whose names and tags the bench repeats, are taken in turns, each time with a new id.
  "parsing and validation": [
    {
      file: "src/http/request-body.ts",
      from: "const text = decodeBody(bytes);",
      to: `const turn = (globalThis.turn = (globalThis.turn ?? 0) + 1), plants = (globalThis.plants ??= []);
  if (plants.length === 10_000) return { ...plants[turn % 10_000], id: BigInt(1e12 + turn) };
  const text = decodeBody(bytes);
  plants.push(JSON.parse(text));`,
    },
  ],
  "everything behind HTTP": [
    {
      file: "src/http/app.ts",
      from: "const exchange = openExchange(request);",
      to: 'if (request.method === "POST") return { status: 200, body: \'{"name":"Monstera deliciosa","tag":"tropical"}\', lines: "content-type: application/json\\r\\nx-request-id: 0\\r\\nx-content-type-options: nosniff\\r\\n" }; const exchange = openExchange(request);',
    },
  ],
} as const satisfies Record<string, readonly PlantedBug[]>;

/**
 * An edit that breaks a promise, and the test that must fail then. The night's run (source/mutants.night.ts) makes each in
 * a copy of the project. `npm run check` finds a text that is not there exactly once, and a test that is not there.
 */
export type Mutant = Edit &
  Readonly<{
    /** The path of the test below this folder. */
    test: string;
    /** A part of the test's name that no other test of the file has. */
    name: string;
    /** Further edits, where one alone breaks nothing. */
    and?: readonly Edit[];
  }>;

/** `from` is in `file` exactly once. */
export type Edit = Readonly<{ file: string; from: string; to: string }>;

export const MUTANTS: readonly Mutant[] = [
  // The command line

  // The client
  {
    test: "http/cross-origin.test.ts",
    name: 'from "https://GARDEN.example"',
    file: "src/http/cross-origin.ts",
    from: "allowed.has(origin)",
    to: "allowed.size > 0",
  },

  // Fairness
  {
    test: "fairness/fairness.test.ts",
    name: "On SQLite, one token that takes all that it can get leaves exports",
    file: "src/app/concurrency.ts",
    from: "const EXPORTS_MAX = 8;",
    to: "const EXPORTS_MAX = Infinity;",
  },
  {
    test: "fairness/imports.test.ts",
    name: "as much of a turn of the event loop as one",
    file: "src/http/import.ts",
    from: "whileThere(openPauses(), connection)",
    to: "whileThere(createSharedPauses(now)(), connection)",
  },
  {
    test: "fairness/imports.test.ts",
    name: "a turn ends behind the first piece",
    file: "src/files/import.ts",
    from: 'await pauses(some.some((row) => "refusal" in row));',
    to: "await pauses();",
  },
  {
    test: "fairness/imports.test.ts",
    name: "a create waits for the commit of one import",
    file: "src/store/sqlite/plants.ts",
    from: "importing.then(group.gathered).then(() => importNow(plants, options))",
    to: "importNow(plants, options)",
  },
  {
    test: "fairness/imports.test.ts",
    name: "a create waits for the commit of one import",
    file: "src/store/sqlite/plants.ts",
    from: ".then(group.gathered)",
    to: "",
  },
  {
    test: "interface/listing.test.ts",
    name: "ends a page of large plants at a million bytes",
    file: "src/http/plant-lists.ts",
    from: "const PAGE_BYTES_MAX = 2 ** 20;",
    to: "const PAGE_BYTES_MAX = Infinity;",
  },
  {
    test: "fairness/work-growth.test.ts",
    name: "words of a name of",
    file: "src/domain/terms.ts",
    from: '.replaceAll(LONG_RUN, "$1")',
    to: "",
    and: [
      { file: "src/domain/normalization.ts", from: "text.length <= wholeMax", to: "wholeMax > 0" },
      { file: "src/domain/terms.ts", from: "whole.length > SEARCHED_LENGTH_MAX ? SEARCHED.exec(whole)![0] : whole", to: "whole" },
    ],
  },

  // HTTP
  {
    test: "http/idle-connections.test.ts",
    name: "one that was in use just now makes room with a warning",
    file: "src/http/server.ts",
    from: "const SPARE_MS = 10_000;",
    to: "const SPARE_MS = 0;",
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that is there twice and differs",
    file: "src/http/wire/head.ts",
    from: "others.some((other) => other !== first)",
    to: "others.length > 9",
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that is signed with a plus",
    file: "src/http/wire/head.ts",
    from: String.raw`/^\d+$/.test(first)`,
    to: String.raw`/^[+-]?\d+$/.test(first)`,
  },
  {
    test: "resilience/parser-differential.night.ts",
    name: "as by llhttp",
    file: "src/http/wire/head.ts",
    from: String.raw`/^\d+$/.test(first)`,
    to: String.raw`/^[+-]?\d+$/.test(first)`,
  },
  {
    test: "http/corpus.test.ts",
    name: "a coding that comes with a length:",
    file: "src/http/wire/head.ts",
    from: "isHttp10 || length !== null ||",
    to: "isHttp10 ||",
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that would be rounded",
    file: "src/http/wire/head.ts",
    from: "!Number.isSafeInteger(length)",
    to: "Number.isNaN(length)",
  },
  {
    test: "resilience/parser-differential.night.ts",
    name: "as by the runtime's server",
    file: "src/http/wire/head.ts",
    from: "? Number(first)",
    to: '? parseInt(first, first[0] === "0" ? 8 : 10)',
  },
  {
    test: "http/corpus.test.ts",
    name: "a length that has a space before its colon",
    file: "src/http/wire/fields.ts",
    from: "line.slice(0, Math.max(colon, 0))",
    to: "line.slice(0, Math.max(colon, 0)).trimEnd()",
  },
  {
    test: "http/corpus.test.ts",
    name: "a space after the size",
    file: "src/http/wire/chunked.ts",
    from: "(bytes[end] === SEMICOLON)",
    to: "(bytes[end] === SEMICOLON || bytes[end] === SPACE)",
  },
  {
    test: "http/corpus.test.ts",
    name: "a trailer without a colon",
    file: "src/http/wire/chunked.ts",
    from: String.raw`+:[\t -\xff]*$/`,
    to: String.raw`+:?[\t -\xff]*$/`,
  },
  {
    test: "http/corpus.test.ts",
    name: "a coding that is chunked:",
    file: "src/http/wire/head-reader.ts",
    from: "searched - HEAD_END.length",
    to: "searched",
  },
  {
    test: "http/corpus.test.ts",
    name: "sent after its answer",
    file: "src/http/app.ts",
    from: "checkHost(request);",
    to: "",
  },
  {
    test: "http/process-one.test.ts",
    name: "by SIGTERM before it is ready",
    file: "src/main.ts",
    from: 'import "./cli/process-one.ts";\n',
    to: "",
  },
  {
    test: "http/unread-responses.test.ts",
    name: "is counted in bytes",
    file: "src/http/response-budget.ts",
    from: "const release = shares.take(owner, bytes.length);",
    to: "const release = () => {};",
  },
  {
    test: "http/varying-heads.test.ts",
    name: "of which nothing is remembered",
    file: "src/http/wire/head.ts",
    from: "section.fields.get(key) === null ?",
    to: "true ?",
  },

  // The interface
  {
    test: "interface/bulk-changes.test.ts",
    name: "a thousand are made as the outcomes say",
    file: "src/http/bulk-changes.ts",
    from: "return await swapOne(swap, who);",
    to: 'return idOf(swap) === 500n ? { kind: "changed" } : await swapOne(swap, who);',
  },

  // Metrics

  // PostgreSQL
  {
    test: "postgres/hostile-schema.test.ts",
    name: "a service calls none of them from its first start on",
    file: "src/store/postgres/engine/requirements.ts",
    from: 'search_path: "pg_catalog, pg_temp"',
    to: 'search_path: "pg_catalog, public"',
  },
  {
    test: "postgres/probe.test.ts",
    name: "refuses a database that writes each plant to two places",
    file: "src/store/postgres/store.ts",
    from: "if (isServing) await probe(",
    to: "if (false) await probe(",
  },
  {
    test: "postgres/probe.test.ts",
    name: "refuses a pooler that reads from a standby",
    file: "src/store/postgres/engine/database-connection.ts",
    from: "checkReader(reader!);",
    to: "void reader;",
  },
  {
    test: "postgres/probe.test.ts",
    name: "refuses a pooler that lends connections",
    file: "src/store/postgres/engine/database-connection.ts",
    from: "checkAge(age, performance.now() - this.#since);",
    to: "void age;",
  },
  {
    test: "postgres/probe.test.ts",
    name: "leaves nothing in the index of ids",
    file: "src/store/postgres/probe.ts",
    from: "      await list(execute, LAST).catch(() => {});\n",
    to: "",
  },

  // Resilience
  {
    test: "resilience/hostile.night.ts",
    name: "on SQLite",
    file: "src/domain/json.ts",
    from: "return BigInt(literal);",
    to: "return BigInt(Number(literal));",
  },
  {
    test: "resilience/hostile.night.ts",
    name: "on SQLite",
    file: "src/domain/validation.ts",
    from: "if (isValid(value)) return value;",
    to: 'if (isValid(value) || isValid.errors?.[0]?.keyword === "wellFormed") return value as Value;',
  },
  {
    test: "resilience/hostile.night.ts",
    name: "on SQLite",
    file: "src/domain/json.ts",
    from: 'new PlantStoreError("malformed_json")',
    to: 'new PlantStoreError("malformed_json", { message: `${new Error().stack}` })',
  },
  {
    test: "resilience/hostile.night.ts",
    name: "on PostgreSQL",
    file: "src/store/postgres/engine/text.ts",
    from: "if (!text.includes(NUL) && !text.includes(ESCAPE)) return text;",
    to: "return text;",
    and: [{ file: "src/store/postgres/store.ts", from: "if (isServing) await probe(", to: "if (false) await probe(" }],
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "is cut off within 15 s whatever it drips",
    file: "src/http/server.ts",
    from: "this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);",
    to: "this.#sweeper = setInterval(() => {}, SWEEP_MS);",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "that does not read its pages",
    file: "src/http/response-budget.ts",
    from: "const release = shares.take(owner, bytes.length);",
    to: "const release = () => {};",
    and: [
      {
        file: "src/http/server.ts",
        from: "this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);",
        to: "this.#sweeper = setInterval(() => {}, SWEEP_MS);",
      },
    ],
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "gets an error if its import drips",
    file: "src/http/import.ts",
    from: "bytesPerSecondMin: 500",
    to: "bytesPerSecondMin: 1e-9",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "may import a line now and then",
    file: "src/http/import.ts",
    from: "connection.allowSilence(0);",
    to: "",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "gets a whole export",
    file: "src/http/export.ts",
    from: "connection.allowSilence(IDLE_SECONDS);",
    to: "",
  },
  {
    test: "resilience/slow-clients.night.ts",
    name: "is answered afterwards what it sent",
    file: "src/http/server.ts",
    from: "this.#time += Math.min(now - this.#sweptAt, PAUSE_MS_MAX);",
    to: "this.#time += now - this.#sweptAt;",
    and: [
      {
        file: "src/http/server.ts",
        from: "connection.expire(this.#time)",
        to: "connection.expire(this.#time + performance.now() - this.#sweptAt)",
      },
      { file: "src/http/upload.ts", from: "setTimeout(refuse, READ_MS)", to: "refuse()" },
    ],
  },

  // The store

  // Tokens
  {
    test: "tokens/token-queue.test.ts",
    name: "on SQLite are refused as overloaded",
    file: "src/store/sqlite/store.ts",
    from: "createTokens({ reader: reader.tokens, changes })",
    to: `createTokens({ reader: reader.tokens, changes: { changeToken: async (change) => (await writer.call("commit", { ids: new BigInt64Array(0), names: [], tags: [] }, [], [change], { changes: 0, bulkChanges: 0 })).tokens[0] } })`,
  },
  {
    test: "tokens/token-queue.test.ts",
    name: "on PostgreSQL are refused as overloaded",
    file: "src/store/postgres/tokens.ts",
    from: "...queuedChanges(queue.changeToken),",
    to: "...queuedChanges(apply),",
  },
  ...[
    { file: "src/auth/authorize.ts", from: "token.scopes.includes(scope)", to: "token.id !== scope" },
    { file: "src/auth/authenticate.ts", from: "(expires === undefined || now < expires)", to: "(expires ?? now) > 0" },
    { file: "src/auth/authenticate.ts", from: "revoked === undefined && ", to: "(revoked ?? 1) > 0 && " },
    { file: "src/http/app.ts", from: "if (!scope) return this.#admit", to: 'if (!scope || method === "HEAD") return this.#admit' },
  ].map((edit): Mutant => ({ test: "tokens/states.test.ts", name: "every state of a token", ...edit })),

  // Tracing
  {
    test: "tracing/collector.test.ts",
    name: "are 4096 in memory at most",
    file: "src/tracing/span-queue.ts",
    from: "waiting.length >= QUEUE_MAX",
    to: "waiting.length < 0",
  },
  {
    test: "tracing/process.test.ts",
    name: "each part of a create in its place",
    file: "src/tracing/request-tracer.ts",
    from: "parent ? inTraceOf(parent) : newTrace()",
    to: "newTrace()",
  },
  {
    test: "tracing/process.test.ts",
    name: "each part of a create in its place",
    file: "src/tracing/request-tracer.ts",
    from: "trace.isKnown ? trace.isRecorded : trace.wish",
    to: "true || trace.wish",
  },
  {
    test: "tracing/process.test.ts",
    name: "each part of a create in its place",
    file: "src/tracing/traced-store.ts",
    from: "parent: { spanId: trace.context.spanId, isRemote: false }",
    to: "parent: undefined",
  },
  {
    test: "tracing/process.test.ts",
    name: "each part of a create in its place",
    file: "src/tracing/commit-tracer.ts",
    from: "links.push(context)",
    to: "links.slice()",
  },
  {
    test: "tracing/process.test.ts",
    name: "each part of a create in its place",
    file: "src/tracing/commit-tracer.ts",
    from: "served.slice(0, LINKS_MAX)",
    to: "served.slice(0, 0)",
  },

  // The page
];

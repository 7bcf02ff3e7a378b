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

  // HTTP
  {
    test: "http/idle-connections.test.ts",
    name: "one that was in use just now makes room with a warning",
    file: "src/http/server.ts",
    from: "const SPARE_MS = 10_000;",
    to: "const SPARE_MS = 0;",
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

  // The store

  // Tokens
  ...[
    { file: "src/auth/authorize.ts", from: "token.scopes.includes(scope)", to: "token.id !== scope" },
    { file: "src/auth/authenticate.ts", from: "(expires === undefined || now < expires)", to: "(expires ?? now) > 0" },
    { file: "src/auth/authenticate.ts", from: "revoked === undefined && ", to: "(revoked ?? 1) > 0 && " },
    { file: "src/http/app.ts", from: "if (!scope) return admit", to: 'if (!scope || method === "HEAD") return admit' },
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

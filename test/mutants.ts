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

  // Metrics

  // PostgreSQL

  // Resilience

  // The store

  // Tokens

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

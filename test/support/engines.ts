import { sharedCluster } from "./postgres/cluster.ts";

/** An engine, and how to have the flags for a store of its own that is empty. */
export type Engine = Readonly<{ engine: string; openFlags: () => Promise<Record<string, string>> }>;

/** The engines that must answer alike. */
export const ENGINES: readonly Engine[] = [
  { engine: "SQLite", openFlags: () => Promise.resolve({}) },
  { engine: "PostgreSQL", openFlags: async () => ({ database: await (await sharedCluster()).createDatabase() }) },
];

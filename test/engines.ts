import { sharedCluster } from "./postgres/cluster.ts";

/** The engines that must answer alike, each with the flags for a store of its own that is empty. */
export const ENGINES: ReadonlyArray<Readonly<{ engine: string; openFlags: () => Promise<Record<string, string>> }>> = [
  { engine: "SQLite", openFlags: () => Promise.resolve({}) },
  { engine: "PostgreSQL", openFlags: async () => ({ database: await (await sharedCluster()).createDatabase() }) },
];

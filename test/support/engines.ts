import { sharedCluster } from "./postgres/cluster.ts";

/** An engine, and a function that returns the flags for a new empty store. */
export type Engine = Readonly<{ engine: string; openFlags: () => Promise<Record<string, string>> }>;

/** The engines that must give the same answers. */
export const ENGINES: readonly Engine[] = [
  { engine: "SQLite", openFlags: () => Promise.resolve({}) },
  { engine: "PostgreSQL", openFlags: async () => ({ database: await (await sharedCluster()).createDatabase() }) },
];

/** The flags of a command or a service for such settings. */
export function flagsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

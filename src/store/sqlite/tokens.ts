import type { GroupCommit } from "../group-commit.ts";
import { queuedChanges } from "../tokens.ts";
import type { TokenStore } from "../tokens.ts";
import { translated } from "./engine/failure.ts";
import type { Reader } from "./engine/reader.ts";

type TokensOptions = Readonly<{
  reader: Reader["tokens"];
  /** Changes of tokens share their commits with those of plants. */
  changes: Pick<GroupCommit, "changeToken">;
}>;

export function createTokens({ reader, changes }: TokensOptions): TokenStore {
  return {
    ...queuedChanges(changes.changeToken),
    find: async (hash) => translated(() => reader.find(hash)),
    list: async (query) => translated(() => reader.list(query)),
  };
}

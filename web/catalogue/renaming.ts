import type { Client, PlantChange } from "../../src/client/client.ts";
import { KEPT_PREFIX } from "../kept.ts";
import { quoteTag } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { keepItem } from "../storage.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import { tagPhrases, withTag } from "./tagging.ts";

/** Gives every plant of a tag another one, or none. */
export type Renaming = Readonly<{
  /** Resolves with whether no plant was left out. */
  rename: (tag: string, to: string | undefined, plants: number | undefined) => Promise<boolean>;
  /** Offers to go on with what a reload has cut off. */
  offer: () => void;
}>;

type RenamingOptions = Readonly<{ client: Client; bulkChanges: BulkChanges; notices: Notices; storage: Storage }>;

/** What is under way is remembered here: the tab may be reloaded, and then some plants have the old tag and some the new one. */
const KEY = `${KEPT_PREFIX}renaming`;
const PAGE = 1000;

export function createRenaming({ client, bulkChanges, notices, storage }: RenamingOptions): Renaming {
  async function* changesOf(tag: string, to: string | undefined): AsyncGenerator<PlantChange> {
    for await (const from of client.list({ tag, limit: PAGE })) yield { from, to: withTag(from, to) };
  }

  async function rename(tag: string, to: string | undefined, plants: number | undefined): Promise<boolean> {
    keepItem(storage, KEY, JSON.stringify({ tag, to }));
    const about = plants === undefined ? {} : { about: plants };
    const isWhole = await bulkChanges.run({
      changes: changesOf(tag, to),
      ...about,
      doing: `Renaming the tag ${quoteTag(tag)}`,
      phrases: tagPhrases(to),
    });
    storage.removeItem(KEY);
    return isWhole;
  }

  return {
    rename,
    offer() {
      const text = storage.getItem(KEY);
      if (text === null) return;
      const { tag, to } = JSON.parse(text) as { tag: string; to?: string };
      const notice = notices.add({
        kind: "problem",
        text: `Renaming the tag ${quoteTag(tag)} was interrupted. Some plants still have it.`,
        isClosable: true,
        onClose: () => storage.removeItem(KEY),
        action: {
          label: "Go on",
          run() {
            notices.close(notice);
            void rename(tag, to, undefined);
          },
        },
      });
    },
  };
}

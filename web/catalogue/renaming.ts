import type { Client, PlantChange } from "../../src/client/client.ts";
import { KEPT_PREFIX } from "../kept.ts";
import { Notices, quoteTag } from "../notices.ts";
import { keepItem } from "../storage.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import { tagPhrases, withTag } from "./tagging.ts";

type RenamingOptions = Readonly<{ client: Client; bulkChanges: BulkChanges; notices: Notices; storage: Storage }>;

/** What is under way is remembered here: the tab may be reloaded, and then some plants have the old tag and some the new one. */
const KEY = `${KEPT_PREFIX}renaming`;
const PAGE = 1000;

export class Renaming {
  readonly #options: RenamingOptions;

  constructor(options: RenamingOptions) {
    this.#options = options;
  }

  /** Resolves with whether no plant was left out. `about`: how many there are, if that is known. */
  async rename(tag: string, to: string | undefined, about?: number): Promise<boolean> {
    const { client, bulkChanges, storage } = this.#options;
    async function* changes(): AsyncGenerator<PlantChange> {
      for await (const from of client.list({ tag, limit: PAGE })) yield { from, to: withTag(from, to) };
    }
    keepItem(storage, KEY, JSON.stringify({ tag, to }));
    const words = { doing: `Renaming the tag ${quoteTag(tag)}`, phrases: tagPhrases(to) };
    const isWhole = await bulkChanges.run({ changes: changes(), about, ...words });
    storage.removeItem(KEY);
    return isWhole;
  }

  /** Offers to go on with what a reload has cut off. */
  offer(): void {
    const { notices, storage } = this.#options;
    const text = storage.getItem(KEY);
    if (text === null) return;
    const { tag, to } = JSON.parse(text) as { tag: string; to?: string };
    const run = () => {
      notices.close(notice);
      void this.rename(tag, to);
    };
    const notice = notices.add({
      kind: "problem",
      text: `Renaming the tag ${quoteTag(tag)} was interrupted. Some plants still have it.`,
      isClosable: true,
      onClose: () => storage.removeItem(KEY),
      action: { label: "Go on", run },
    });
  }
}

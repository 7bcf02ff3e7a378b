import type { Plant } from "../../src/client/client.ts";
import { DONE_MS, Notices, quoteTag } from "../notices.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import { plantOf } from "./bulk-text.ts";
import type { BulkWords } from "./bulk-text.ts";
import { aftersOf, takeOver } from "./noted-change.ts";
import type { NotedChange } from "./noted-change.ts";

/** `offers`: what could be undone when it was asked for. */
type Asked = Readonly<{ plants: Map<bigint, Plant>; tag: string | undefined; offers: ReturnType<BulkChanges["offers"]> }>;
type Turn = Asked & Readonly<{ over: Promise<void> }>;

/**
 * Tags of the same plants are set one after the other: otherwise the second would take what the first did for a change of someone else. Nothing
 * else waits for them.
 */
export class Tagging {
  readonly #bulkChanges: BulkChanges;
  readonly #notices: Notices;
  readonly #turns = new Set<Turn>();

  constructor({ bulkChanges, notices }: Readonly<{ bulkChanges: BulkChanges; notices: Notices }>) {
    this.#bulkChanges = bulkChanges;
    this.#notices = notices;
  }

  /** Gives the plants this tag, or none. */
  async setTag(of: readonly Plant[], tag: string | undefined): Promise<void> {
    const asked = { plants: new Map(of.map((plant) => [plant.id, plant])), tag, offers: this.#bulkChanges.offers() };
    const before = [...this.#turns].filter((turn) => of.some(({ id }) => turn.plants.has(id)));
    const turn = { ...asked, over: Promise.allSettled(before.map(({ over }) => over)).then(() => this.#run(asked)) };
    this.#turns.add(turn);
    try {
      await turn.over;
    } finally {
      this.#turns.delete(turn);
    }
  }

  /** Takes over what was changed here. */
  note(changes: readonly NotedChange[]): void {
    for (const { plants } of this.#turns) takeOver(plants, aftersOf(changes));
  }

  async #run({ plants, tag, offers }: Asked): Promise<void> {
    const changes = [...plants.values()].filter((plant) => plant.tag !== tag).map((from) => ({ from, to: withTag(from, tag) }));
    if (changes.length === 0) return void this.#notices.add({ kind: "done", text: "There is nothing to change.", lastsMs: DONE_MS });
    // To undo what these plants were given meanwhile would only meet their new tag.
    const over = this.#bulkChanges.offers().filter(({ undo }) => undo.changes.some((change) => plants.has(plantOf(change).id)));
    const replaces = [...offers, ...over];
    await this.#bulkChanges.run({ changes, total: changes.length, doing: "Changing the tag", phrases: tagPhrases(tag), replaces });
  }
}

/** "Set the tag of 7 plants to “tree”" */
export function tagPhrases(tag: string | undefined): BulkWords["phrases"] {
  return (plants) => {
    if (tag === undefined) return { doing: `Removing the tag from ${plants}`, done: `Removed the tag from ${plants}` };
    const rest = `the tag of ${plants} to ${quoteTag(tag)}`;
    return { doing: `Setting ${rest}`, done: `Set ${rest}` };
  };
}

export function withTag({ id, name }: Plant, tag: string | undefined): Plant {
  return tag === undefined ? { id, name } : { id, name, tag };
}

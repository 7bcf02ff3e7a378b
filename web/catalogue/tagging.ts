import type { Plant, PlantChange } from "../../src/client/client.ts";
import { DONE_MS, quoteTag } from "../notices.ts";
import type { Notices } from "../notices.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import { takeOver } from "./listing.ts";
import type { NotedChange } from "./listing.ts";

export type Tagging = Readonly<{
  /** Gives the plants this tag, or none. */
  setTag: (plants: readonly Plant[], tag: string | undefined) => Promise<void>;
  /** Takes over what was changed here. */
  note: (changes: readonly NotedChange[]) => void;
}>;

type Turn = Readonly<{ plants: Map<bigint, Plant>; over: Promise<void> }>;

/**
 * The tags of plants are set one after the other: the second time would find them changed by the first, which is nobody else. Nothing else
 * waits for them.
 */
export function createTagging({ bulkChanges, notices }: Readonly<{ bulkChanges: BulkChanges; notices: Notices }>): Tagging {
  const turns = new Set<Turn>();

  async function run(plants: ReadonlyMap<bigint, Plant>, tag: string | undefined): Promise<void> {
    const changes = [...plants.values()]
      .filter((plant) => plant.tag !== tag)
      .map((from): PlantChange => ({ from, to: withTag(from, tag) }));
    if (changes.length === 0) notices.add({ kind: "done", text: "There is nothing to change.", lastsMs: DONE_MS });
    else await bulkChanges.run({ changes, total: changes.length, doing: "Changing the tag", done: doneText(tag) });
  }

  return {
    async setTag(of, tag) {
      const plants = new Map(of.map((plant) => [plant.id, plant]));
      const before = [...turns].filter((turn) => of.some(({ id }) => turn.plants.has(id)));
      const turn = { plants, over: Promise.all(before.map(({ over }) => over)).then(() => run(plants, tag)) };
      turns.add(turn);
      await turn.over;
      turns.delete(turn);
    },
    note(changes) {
      for (const { plants } of turns) takeOver(plants, changes);
    },
  };
}

/** "tagged “tree”" */
export function doneText(tag: string | undefined): string {
  return tag === undefined ? "without a tag now" : `tagged ${quoteTag(tag)} now`;
}

export function withTag({ id, name }: Plant, tag: string | undefined): Plant {
  return tag === undefined ? { id, name } : { id, name, tag };
}

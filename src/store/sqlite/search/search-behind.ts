import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../../domain/plant.ts";
import type { OrderedWalker } from "./ordered-walk.ts";
import type { prepareChangeReads } from "./recorded-changes.ts";
import type { FindQuery, WordIndex } from "./word-index.ts";

/** Ids that match, in order. `reached`: up to here nothing was left out; undefined when nothing follows. */
export type Ids = Readonly<{ kind: "ids"; ids: BigInt64Array; reached: bigint | undefined }>;

/** As many as are wanted. `reached`: how far they were looked for, if not to the end. */
export function toIds(ids: BigInt64Array, limit: number, reached?: bigint): Ids {
  return { kind: "ids", ids: ids.length > limit ? ids.slice(0, limit) : ids, reached: ids.length < limit ? reached : ids[limit - 1] };
}

/** How long a search looks at plants that are not indexed yet, in milliseconds, and how many it looks at in one go. */
const LOOK_MS = 20;
const LOOK_PLANTS = 20;

/** A search while the index has not followed all changes. */
export class SearchBehind {
  readonly #recorded: ReturnType<typeof prepareChangeReads>;
  readonly #walker: OrderedWalker;

  constructor(recorded: ReturnType<typeof prepareChangeReads>, walker: OrderedWalker) {
    this.#recorded = recorded;
    this.#walker = walker;
  }

  /** Finds what matches in the index, and among the plants that changed since. Undefined if that takes long. */
  find(index: WordIndex, query: FindQuery, indexed: number): Ids | undefined {
    const { from, descending = false, limit } = query;
    const held = toIds(index.find(query), limit);
    const [low, high] = descending ? [held.reached ?? PLANT_ID_MIN, from] : [from, held.reached ?? PLANT_ID_MAX];
    const changed = this.#recorded.idsAfter(indexed, low, high);
    if (!changed) return undefined;
    const inOrder = (ids: Iterable<bigint>) => {
      const sorted = BigInt64Array.from(ids).toSorted();
      return descending ? sorted.toReversed() : sorted;
    };
    const found = this.#findAmong(inOrder(changed), query);
    return found && toIds(inOrder([...held.ids.filter((id) => !changed.has(id)), ...found]), limit, held.reached);
  }

  /** Those of these plants that match, in order, as many as are wanted. Undefined if that takes long. */
  #findAmong(ids: BigInt64Array, { words, tag, limit }: FindQuery): bigint[] | undefined {
    const end = performance.now() + LOOK_MS;
    const found: bigint[] = [];
    for (let at = 0; at < ids.length && found.length < limit;) {
      if (performance.now() > end) return undefined;
      const looked = this.#walker.findAll(ids.subarray(at, at + LOOK_PLANTS), { words, tag });
      for (const { id } of looked.found) found.push(id);
      at += looked.lookedAt;
    }
    return found;
  }
}

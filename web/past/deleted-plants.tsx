import { useState } from "preact/hooks";
import type { Plant } from "../../src/client/client.ts";
import { count } from "../catalogue/bulk-text.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { nameLabel, tagLabel } from "../plants/label.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/form.tsx";
import { usePastPages } from "./past-pages.ts";
import { pastText, statusText } from "./past-text.ts";

/** Plants that were deleted and are not there now, the last one first, and what restores them. */
export function DeletedPlants({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  const { client, deletions, bulkChanges, access } = catalogue;
  const { changes, problem, again, earlier, drop } = usePastPages(async (query) => {
    // What still waits to be deleted is not in the list.
    await deletions.flush();
    return client.deleted(query);
  });
  const [ticked, setTicked] = useState<ReadonlySet<bigint>>(new Set());
  // A message outside of the dialog is not read out.
  const [failed, setFailed] = useState<string>();
  const seen = new Set<bigint>();
  // One that was deleted twice is restored as it was last.
  const last = changes?.filter(({ id }) => !seen.has(id) && seen.add(id));
  const chosen = (last ?? []).flatMap(({ id, from }) => (from && ticked.has(id) ? [from] : []));

  async function restore(plants: readonly Plant[]): Promise<void> {
    const ids = new Set(plants.map(({ id }) => id));
    const phrases = (some: string) => ({ doing: `Restoring ${some}`, done: `Restored ${some}` });
    const restored = plants.map((to) => ({ from: undefined, to }));
    const isWhole = await bulkChanges.run({ changes: restored, total: plants.length, doing: "Restoring", phrases });
    setTicked(new Set([...ticked].filter((id) => !ids.has(id))));
    setFailed(isWhole ? undefined : "Not all were restored. Where another plant has the id now, that one is kept; otherwise try again.");
    if (isWhole) drop(ids);
    else again();
  }

  function tick(id: bigint): void {
    const others = [...ticked].filter((one) => one !== id);
    setTicked(new Set(ticked.has(id) ? others : [...others, id]));
  }

  return (
    <div>
      <Problem text={failed} />
      <Problem text={problem} />
      <p role="status">{statusText(last, problem, "No deleted plant is kept.")}</p>
      <ul class="past-list">
        {(last ?? []).map((change) => (
          <li key={change.id} class="past-row">
            {access.write && change.from ? (
              <input
                type="checkbox"
                aria-label={`Select ${nameLabel(change.from.name)}`}
                checked={ticked.has(change.id)}
                onChange={() => tick(change.id)}
              />
            ) : null}
            <Deleted plant={change.from} about={`Id ${change.id}. ${pastText(change)}`} />
            {access.write && change.from ? (
              <Button label="Restore" aria-label={`Restore ${nameLabel(change.from.name)}`} onClick={() => void restore([change.from!])} />
            ) : null}
          </li>
        ))}
      </ul>
      <div class="choices">
        {problem === undefined ? null : <Button label="Try again" onClick={again} />}
        {chosen.length > 0 ? <Button label={`Restore ${count(chosen.length)}`} onClick={() => void restore(chosen)} /> : null}
        {earlier ? <Button label="Earlier" onClick={earlier} /> : null}
      </div>
    </div>
  );
}

function Deleted({ plant, about }: Readonly<{ plant: Plant | undefined; about: string }>) {
  return (
    <div>
      <p class={plant ? "" : "none"} dir="auto">
        {/* A name with a mark of direction draws nothing but itself. */}
        <bdi>{plant ? nameLabel(plant.name) : "Its text is erased"}</bdi>{" "}
        {plant?.tag === undefined ? null : <span class="chip">{tagLabel(plant.tag)}</span>}
      </p>
      <p class="hint">{about}</p>
    </div>
  );
}

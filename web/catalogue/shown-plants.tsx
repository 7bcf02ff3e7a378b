import type { Plant } from "../../src/client/client.ts";
import type { AppContext } from "../app-context.ts";
import { useValue } from "../state.ts";
import type { View } from "../view.ts";
import type { Catalogue } from "./catalogue.ts";
import { ROWS_AT_ONCE_MAX } from "./listing.ts";
import type { RowAction } from "./plant-row.tsx";
import { Results } from "./results.tsx";
import { TagBars } from "./tag-bars.tsx";
import { Toolbar } from "./toolbar.tsx";

type ShownPlantsProps = Readonly<{ context: AppContext; catalogue: Catalogue; onRename: (tag: string) => void }>;

/** The plants of the view, and what leads to other views. */
export function ShownPlants({ context: { views, opening }, catalogue, onRename }: ShownPlantsProps) {
  const { listing, tagCounts, deletions, ticks, access } = catalogue;
  const view = useValue(views.state);
  const listed = useValue(listing.state);
  const revealed = useValue(catalogue.revealed);
  const counts = useValue(tagCounts.found);
  const total = useValue(tagCounts.total);

  function show(next: Partial<View>): void {
    views.show({ ...view, ...next }, "push");
  }

  function edit(id: bigint): void {
    opening.open({ kind: "edit", id });
  }

  function act(action: RowAction, plant: Plant): void {
    if (action === "edit" || action === "open") edit(plant.id);
    else if (action === "delete") {
      deletions.remove([plant]);
      ticks.note([{ before: plant, after: undefined }]);
    } else if (plant.tag !== undefined) show({ tag: plant.tag });
  }

  return (
    <div class="shown-plants">
      <TagBars
        counts={counts}
        chosen={view.tag}
        onRename={access.write ? onRename : undefined}
        onChoose={(tag) => show({ tag: tag === view.tag ? undefined : tag })}
      />
      <main>
        <h1 class="unseen">Plants</h1>
        <Toolbar
          views={views}
          listed={listed}
          total={total}
          mayAdd={access.write}
          onAdd={() => opening.open({ kind: "add" })}
          onOpen={edit}
          onRefresh={() => void (listed.plants.length > ROWS_AT_ONCE_MAX ? catalogue.reload() : catalogue.refresh())}
        />
        <Results
          listed={listed}
          position={views.position}
          revealed={revealed}
          ticks={ticks}
          mayChange={access.write}
          onMore={() => void listing.loadMore()}
          onSort={(sort) => show({ sort })}
          onRetry={() => void catalogue.retry()}
          onShow={show}
          onAction={act}
        />
      </main>
    </div>
  );
}

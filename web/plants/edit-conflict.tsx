import type { Plant } from "../../src/client/client.ts";
import { PlantText } from "./plant-text.tsx";

type EditConflictProps = Readonly<{
  mine: Plant;
  /** Undefined when somebody deleted it. */
  theirs: Plant | undefined;
  isBusy: boolean;
  onMine: () => void;
  onTheirs: () => void;
}>;

/** Lets people choose when somebody else was faster. */
export function EditConflict({ mine, theirs, isBusy, onMine, onTheirs }: EditConflictProps) {
  return (
    <div class="edit-conflict">
      <p class="problem" role="alert">
        {theirs === undefined
          ? "Someone deleted this plant in the meantime. Your change is not saved yet."
          : "Someone changed this plant in the meantime. Your change is not saved yet."}
      </p>
      <div class="edit-conflict-sides">
        <Side title="Yours" plant={mine} other={theirs} />
        <Side title="Theirs" plant={theirs} other={mine} />
      </div>
      <footer>
        <button class="button" type="button" onClick={onTheirs}>
          {theirs === undefined ? "Leave it deleted" : "Keep theirs"}
        </button>
        <button class="button primary" type="button" onClick={onMine} disabled={isBusy}>
          {theirs === undefined ? "Save yours as new" : "Replace with yours"}
        </button>
      </footer>
    </div>
  );
}

function Side({ title, plant, other }: { title: string; plant: Plant | undefined; other: Plant | undefined }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {plant === undefined ? <p class="none">Deleted</p> : <PlantText plant={plant} other={other} />}
    </section>
  );
}

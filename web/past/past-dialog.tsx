import { useRef, useState } from "preact/hooks";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useOwnStyle } from "../ui/own-style.ts";
import { DeletedPlants } from "./deleted-plants.tsx";
import { PastImports } from "./past-imports.tsx";
import css from "./past.css" with { type: "text" };

const PARTS = { deleted: "Deleted plants", imports: "Imports" } as const;

type PastProps = Readonly<{ catalogue: Catalogue; /** The import to take back at once. */ takesBack: string | undefined }>;

/** What was done to the catalogue, and can be taken back. */
export function PastDialog({ catalogue, takesBack }: PastProps) {
  useOwnStyle(css);
  const { notices, opening } = catalogue.context;
  const [shown, setShown] = useState<keyof typeof PARTS>(takesBack === undefined ? "deleted" : "imports");
  const asked = useRef(takesBack);
  const [running, setRunning] = useState<string>();
  return (
    <Dialog title="Past changes" notices={notices} onClose={() => opening.close()} isWide>
      <p class="hint">They can be taken back as long as the service keeps its changes.</p>
      <div class="past-parts">
        {(["deleted", "imports"] as const).map((part) => (
          <Button
            key={part}
            label={PARTS[part]}
            class={part === shown ? "" : "quiet"}
            aria-pressed={part === shown}
            onClick={() => setShown(part)}
          />
        ))}
      </div>
      {shown === "deleted" ? (
        <DeletedPlants catalogue={catalogue} />
      ) : (
        <PastImports catalogue={catalogue} asked={asked} running={running} onRun={setRunning} />
      )}
      <footer>
        <Button label="Done" class="primary" onClick={() => opening.close()} />
      </footer>
    </Dialog>
  );
}

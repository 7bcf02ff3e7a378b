import { useEffect, useState } from "preact/hooks";
import { FOCUS_HOME, focusHome } from "../ui/focus.ts";

type WelcomeProps = Readonly<{ mayAdd: boolean; onAdd: () => void; onImport: (file: File | undefined) => void }>;

const SAMPLE = "sample.csv";

/** The first visit to a store that is empty. */
export function Welcome({ mayAdd, onAdd, onImport }: WelcomeProps) {
  const [isLost, setLost] = useState(false);
  // What had the focus may have gone with the sign-in, or with the table.
  useEffect(() => {
    if (document.activeElement === document.body) focusHome();
  }, []);

  async function importSample(): Promise<void> {
    setLost(false);
    try {
      const sample = await (await fetch(SAMPLE)).blob();
      // Not the page of a proxy, nor an error.
      if (sample.type.startsWith("text/csv")) return onImport(new File([sample], SAMPLE));
    } catch {
      // The connection is gone.
    }
    setLost(true);
  }

  return (
    <main class="intro">
      <h1 id={FOCUS_HOME} tabIndex={-1}>
        Nothing grows here yet
      </h1>
      {mayAdd ? (
        <>
          <p>
            A plant has an id, a name and, if you like, a tag. Add plants one by one, or import a whole spreadsheet, as .xlsx or CSV. What
            you save stays saved, even if the power fails a moment later.
          </p>
          <div class="choices">
            <button class="button primary" type="button" onClick={onAdd}>
              Add a plant
            </button>
            <button class="button" type="button" onClick={() => onImport(undefined)}>
              Import a file
            </button>
          </div>
          <p class="hint">
            No file at hand?{" "}
            <button class="link" type="button" onClick={() => void importSample()}>
              Try thirty real plants
            </button>{" "}
            or{" "}
            <a href={SAMPLE} download={SAMPLE}>
              save the sample file
            </a>
            .
          </p>
          {isLost ? (
            <p class="problem" role="alert">
              The file could not be loaded: try again.
            </p>
          ) : null}
        </>
      ) : (
        <p>This catalogue is empty, and your token cannot add plants.</p>
      )}
    </main>
  );
}

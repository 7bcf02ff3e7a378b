import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Button, LinkButton } from "../ui/button.tsx";
import { FOCUS_HOME, findFocus } from "../ui/focus.ts";
import { Problem } from "../ui/form.tsx";
import type { Catalogue } from "./catalogue.ts";

type WelcomeProps = Readonly<{ catalogue: Catalogue }>;

const SAMPLE = "sample.csv";

const TEXT =
  "A plant has an id, a name and, if you like, a tag. Add plants one by one, or import a whole spreadsheet, as .xlsx or CSV. What you save stays saved, even if the power fails a moment later.";

/** The first visit to a store that is empty. */
export function Welcome({ catalogue }: WelcomeProps) {
  const [isLost, setLost] = useState(false);
  // After a sign-in nothing has the focus, and before this there is only the menu.
  useLayoutEffect(findFocus, []);

  async function importSample(): Promise<void> {
    setLost(false);
    try {
      const sample = await (await fetch(SAMPLE)).blob();
      // Not the page of a proxy, nor an error.
      if (sample.type.startsWith("text/csv")) return catalogue.context.opening.open({ kind: "import", file: new File([sample], SAMPLE) });
    } catch {
      // The connection is gone.
    }
    setLost(true);
  }

  const title = "Nothing grows here yet";
  if (!catalogue.access.write) return <Intro title={title} text="This catalogue is empty, and your token cannot add plants." />;
  return (
    <Intro title={title} text={TEXT}>
      <div class="choices">
        <AddOrImport catalogue={catalogue} />
      </div>
      <p class="hint">
        No file at hand? <LinkButton label="Try thirty real plants" onClick={() => void importSample()} /> or{" "}
        <a href={SAMPLE} download={SAMPLE}>
          save the sample file
        </a>
        .
      </p>
      <Problem text={isLost ? "The file could not be loaded: try again." : undefined} />
    </Intro>
  );
}

/** The page of a token that may not see plants: what it may do. */
export function WithoutPlants({ catalogue }: WelcomeProps) {
  const { write, admin } = catalogue.access;
  const onTokens = () => catalogue.context.opening.open({ kind: "tokens" });
  const may = [...(write ? ["add and import plants"] : []), ...(admin ? ["create and revoke tokens"] : [])];
  return (
    <Intro
      title="Your token cannot see plants"
      text={may.length === 0 ? "It cannot do anything else: sign in with another token." : `It can ${may.join(", and ")}.`}
    >
      <div class="choices">
        {write ? <AddOrImport catalogue={catalogue} /> : null}
        {admin ? <Button label="Manage tokens" class={write ? undefined : "primary"} onClick={onTokens} /> : null}
      </div>
    </Intro>
  );
}

/** In the place of the plants: why there are none, and what there is to do. */
function Intro({ title, text, children }: Readonly<{ title: string; text: string; children?: ComponentChildren }>) {
  return (
    <main class="intro">
      <h1 id={FOCUS_HOME} tabIndex={-1}>
        {title}
      </h1>
      <p>{text}</p>
      {children}
    </main>
  );
}

function AddOrImport({ catalogue }: WelcomeProps) {
  const { opening } = catalogue.context;
  return (
    <>
      <Button label="Add a plant" class="primary" onClick={() => opening.open({ kind: "add" })} />
      <Button label="Import a file" onClick={() => opening.open({ kind: "import" })} />
    </>
  );
}

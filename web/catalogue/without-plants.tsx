import type { Access } from "../access.ts";
import { FOCUS_HOME } from "../ui/focus.ts";

type WithoutPlantsProps = Readonly<{ access: Access; onAdd: () => void; onImport: () => void; onTokens: () => void }>;

/** The page of a token that may not see plants: what it may do. */
export function WithoutPlants({ access: { write, admin }, onAdd, onImport, onTokens }: WithoutPlantsProps) {
  const may = [...(write ? ["add and import plants"] : []), ...(admin ? ["create and revoke tokens"] : [])];
  return (
    <main class="intro">
      <h1 id={FOCUS_HOME} tabIndex={-1}>
        Your token cannot see plants
      </h1>
      <p>{may.length === 0 ? "It cannot do anything else: sign in with another token." : `It can ${may.join(", and ")}.`}</p>
      <div class="choices">
        {write ? (
          <>
            <button class="button primary" type="button" onClick={onAdd}>
              Add a plant
            </button>
            <button class="button" type="button" onClick={onImport}>
              Import a file
            </button>
          </>
        ) : null}
        {admin ? (
          <button class={write ? "button" : "button primary"} type="button" onClick={onTokens}>
            Manage tokens
          </button>
        ) : null}
      </div>
    </main>
  );
}

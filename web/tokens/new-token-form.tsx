import { useState } from "preact/hooks";
import type { NewToken } from "../../src/client/client.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { BackAgain } from "../ui/back-again.tsx";
import { Field } from "../ui/field.tsx";
import { takeFocus } from "../ui/focus.ts";

const MEANINGS = {
  "plants:read": "see, search and export plants",
  "plants:write": "add, change, delete and import plants",
  admin: "create and revoke tokens",
} as const satisfies Record<Scope, string>;

/** What is typed here is kept under this name. */
export const NEW_TOKEN = "new-token";

/** The contract has as many characters. Here an emoji counts as two. */
const NAME_MAX = 100;

/** A token as it is typed. */
type Draft = Readonly<{ name: string; scopes: readonly Scope[]; days: string }>;

type NewTokenFormProps = Readonly<{ onCreate: (token: NewToken) => Promise<void>; onBack: () => void }>;

export function NewTokenForm({ onCreate, onBack }: NewTokenFormProps) {
  const typed = useKept<Draft>(NEW_TOKEN, emptyDraft);
  const { name, scopes, days } = typed.value;
  useHold(name !== "" || days !== "");
  const [isBusy, setBusy] = useState(false);

  async function create(): Promise<void> {
    setBusy(true);
    await onCreate({ name, scopes, ...(days === "" ? {} : { days: Number(days) }) });
    setBusy(false);
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      {typed.isBack ? (
        <BackAgain
          onDiscard={() => {
            typed.set(emptyDraft());
            typed.forget();
          }}
        />
      ) : null}
      <Field label="Name" hint="Who or what it is for.">
        {(id, hintId) => (
          <input
            id={id}
            aria-describedby={hintId}
            value={name}
            onInput={({ currentTarget: { value } }) => typed.set({ name: value, scopes, days })}
            autocomplete="off"
            autofocus
            ref={takeFocus}
            maxLength={NAME_MAX}
            required
          />
        )}
      </Field>
      <fieldset>
        <legend>This token can</legend>
        {SCOPES.map((scope) => (
          <label class="check" key={scope}>
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={({ currentTarget: { checked } }) =>
                typed.set({ name, scopes: SCOPES.filter((other) => (other === scope ? checked : scopes.includes(other))), days })
              }
            />
            {MEANINGS[scope]}
          </label>
        ))}
      </fieldset>
      <Field label="Days until it expires" hint="Without a number, it is valid until you revoke it.">
        {(id, hintId) => (
          <input
            id={id}
            class="new-token-form-days"
            aria-describedby={hintId}
            type="number"
            min={1}
            max={36_500}
            value={days}
            onInput={({ currentTarget: { value } }) => typed.set({ name, scopes, days: value })}
          />
        )}
      </Field>
      <footer>
        <button class="button" type="button" onClick={onBack}>
          Back
        </button>
        <button class="button primary" type="submit" disabled={isBusy || scopes.length === 0}>
          {isBusy ? "Creating…" : "Create token"}
        </button>
      </footer>
    </form>
  );
}

function emptyDraft(): Draft {
  return { name: "", scopes: ["plants:read", "plants:write"], days: "" };
}

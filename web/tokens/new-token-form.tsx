import { useState } from "preact/hooks";
import type { NewToken } from "../../src/client/client.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { useKept } from "../kept.ts";
import { useHold } from "../leaving.ts";
import { Button } from "../ui/button.tsx";
import { takeFocus } from "../ui/focus.ts";
import { BackAgain, Check, Form, TextField } from "../ui/form.tsx";

const MEANINGS = {
  "plants:read": "see, search and export plants",
  "plants:write": "add, change, delete and import plants",
  admin: "create and revoke tokens",
} as const satisfies Record<Scope, string>;

/** What is typed here is kept under this name. */
export const NEW_TOKEN = "new-token";

/** The contract has as many characters. Here an emoji counts as two. */
const NAME_MAX = 100;

type Draft = Readonly<{ name: string; scopes: readonly Scope[]; days: string }>;

const EMPTY: Draft = { name: "", scopes: ["plants:read", "plants:write"], days: "" };

type NewTokenFormProps = Readonly<{ onCreate: (token: NewToken) => Promise<void>; onBack: () => void }>;

export function NewTokenForm({ onCreate, onBack }: NewTokenFormProps) {
  const typed = useKept<Draft>(NEW_TOKEN, () => EMPTY);
  const { name, scopes, days } = typed.value;
  useHold(name !== "" || days !== "");
  const [isBusy, setBusy] = useState(false);
  const type = (changed: Partial<Draft>) => typed.set({ ...typed.value, ...changed });

  async function create(): Promise<void> {
    setBusy(true);
    await onCreate({ name, scopes, ...(days === "" ? {} : { days: Number(days) }) });
    setBusy(false);
  }

  return (
    <Form onSubmit={create}>
      {typed.isBack ? <BackAgain onDiscard={() => typed.reset(EMPTY)} /> : null}
      <TextField
        label="Name"
        hint="Who or what it is for."
        value={name}
        onValue={(next) => type({ name: next })}
        autocomplete="off"
        autofocus
        ref={takeFocus}
        maxLength={NAME_MAX}
        required
      />
      <fieldset>
        <legend>This token can</legend>
        {SCOPES.map((scope) => (
          <Check
            key={scope}
            label={MEANINGS[scope]}
            checked={scopes.includes(scope)}
            onCheck={(isIn) => type({ scopes: SCOPES.filter((other) => (other === scope ? isIn : scopes.includes(other))) })}
          />
        ))}
      </fieldset>
      <TextField
        label="Days until it expires"
        hint="Without a number, it is valid until you revoke it."
        class="tokens-days"
        type="number"
        min={1}
        max={36_500}
        value={days}
        onValue={(next) => type({ days: next })}
      />
      <footer>
        <Button label="Back" onClick={onBack} />
        <Button label={isBusy ? "Creating…" : "Create token"} class="primary" type="submit" disabled={isBusy || scopes.length === 0} />
      </footer>
    </Form>
  );
}

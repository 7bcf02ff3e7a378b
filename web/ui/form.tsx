import type { ComponentChildren, ComponentProps, PartialInputHTMLAttributes } from "preact";
import { useId, useState } from "preact/hooks";
import { LinkButton } from "./button.tsx";

type FormProps = Omit<ComponentProps<"form">, "onSubmit"> & Readonly<{ onSubmit: () => unknown }>;

export function Form({ onSubmit, ...more }: FormProps) {
  return (
    <form
      {...more}
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    />
  );
}

type Attempting = Readonly<{
  problem: string | undefined;
  setProblem: (text: string | undefined) => void;
  isBusy: boolean;
  /** Does it, and takes back what was said before. `toText` says what went wrong. */
  attempt: (work: () => Promise<void>) => Promise<void>;
}>;

/** What people ask for and wait for, such as saving. */
export function useAttempt(toText: (thrown: unknown) => string | undefined, before?: string): Attempting {
  const [problem, setProblem] = useState(before);
  const [isBusy, setBusy] = useState(false);
  async function attempt(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    // The same words are read out again only where they were gone.
    setProblem(undefined);
    await Promise.resolve();
    try {
      await work();
    } catch (thrown) {
      setProblem(toText(thrown));
    } finally {
      setBusy(false);
    }
  }
  return { problem, setProblem, isBusy, attempt };
}

type FieldProps = Readonly<{
  label: string;
  hint?: string | undefined;
  children: (id: string, hintId: string | undefined) => ComponentChildren;
}>;

/**
 * Of an input for words that no dictionary has, such as Latin names: a phone would put others in their place while one types. Preact sets the
 * property `autocorrect`, which is a boolean: any text but the empty one, also "off", turns it on.
 */
export const AS_TYPED = { autocomplete: "off", autocorrect: "", spellcheck: false } as const;

/** A control with its label, and a hint that is read out with it, and again when it changes. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, hintId)}
      {hint === undefined ? null : (
        <p class="hint" id={hintId} role="status">
          {hint}
        </p>
      )}
    </div>
  );
}

type InputProps = Omit<PartialInputHTMLAttributes<HTMLInputElement>, "list" | "role" | "type">;

type TextFieldProps = InputProps & Pick<FieldProps, "label" | "hint"> & Readonly<{ type?: "number"; onValue?: (value: string) => void }>;

/** A field of one line. */
export function TextField({ label, hint, onValue, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => <input id={id} aria-describedby={hintId} onInput={({ currentTarget: { value } }) => onValue?.(value)} {...input} />}
    </Field>
  );
}

type SelectFieldProps = Readonly<{
  label: string;
  hint?: string;
  /** The value of each, and what is seen of it. */
  options: readonly (readonly [value: string, text: string])[];
  value: string;
  onValue: (value: string) => void;
}>;

export function SelectField({ label, hint, options, value, onValue }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => (
        <select id={id} aria-describedby={hintId} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
          {options.map(([one, text]) => (
            <option value={one} key={one}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type CheckProps = InputProps & Readonly<{ label: string; onCheck: (isChecked: boolean) => void }>;

export function Check({ label, onCheck, ...input }: CheckProps) {
  return (
    <label class="check">
      <input {...input} type="checkbox" onChange={({ currentTarget: { checked } }) => onCheck(checked)} />
      {label}
    </label>
  );
}

/** What went wrong, if anything did. It is read out as it comes. */
export function Problem({ text }: Readonly<{ text: string | undefined }>) {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

export function BackAgain({ onDiscard }: { onDiscard: () => void }) {
  return (
    <p class="hint" role="status">
      What you typed before is back. <LinkButton label="Discard it" onClick={onDiscard} />
    </p>
  );
}

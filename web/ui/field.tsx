import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

type FieldProps = Readonly<{
  label: string;
  hint?: string;
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

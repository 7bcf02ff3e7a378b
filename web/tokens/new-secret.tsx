import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";

/** A new token, which is shown only now. */
export function NewSecret({ secret }: { secret: string }) {
  const [told, setTold] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), [secret]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(secret);
      setTold("Copied.");
    } catch {
      // A page that came over plain HTTP from another machine may not write there.
      input.current?.select();
      setTold("This browser does not allow the page to copy: press Ctrl+C.");
    }
  }

  return (
    <div class="tokens-secret">
      <Field label="The new token" hint="Copy it now: it is not shown again, because the service keeps only its hash.">
        {(id, hintId) => (
          <div class="joined">
            <input id={id} ref={input} aria-describedby={hintId} readOnly value={secret} />
            <button class="button" type="button" onClick={() => void copy()}>
              <Icon name="copy" />
              Copy
            </button>
          </div>
        )}
      </Field>
      <p role="status">{told}</p>
    </div>
  );
}

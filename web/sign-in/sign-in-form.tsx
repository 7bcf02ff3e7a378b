import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { createClient } from "../../src/client/client.ts";
import type { AppContext } from "../app-context.ts";
import { failureText } from "../failure-text.ts";
import { AS_TYPED, Field } from "../ui/field.tsx";
import { takeFocus } from "../ui/focus.ts";
import { parseToken } from "./token-text.ts";

const NO_TOKEN = "That is not a token. A token is one word, such as plant_0aB1…";

/** Takes a token that the service accepts. */
export function SignInForm({
  context,
  reason,
  children,
}: {
  context: AppContext;
  reason: string | undefined;
  children?: ComponentChildren;
}) {
  const [text, setText] = useState("");
  const [isShown, setShown] = useState(false);
  const [isRemembered, setRemembered] = useState(false);
  const [problem, setProblem] = useState(reason);
  const meaningId = useId();
  const [isBusy, setBusy] = useState(false);

  async function signIn(): Promise<void> {
    // The same words are read out again only where they were gone.
    setProblem(undefined);
    await Promise.resolve();
    const token = parseToken(text);
    if (token === undefined) return setProblem(NO_TOKEN);
    setBusy(true);
    try {
      const client = createClient({ url: context.base, token, fetch: context.reaching.fetch, retries: 1 });
      context.session.signIn(token, await client.session(), isRemembered);
    } catch (thrown) {
      setProblem(failureText(thrown));
      setBusy(false);
    }
  }

  return (
    <form
      class="sign-in-form"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn();
      }}
    >
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <Field label="Token">
        {(id) => (
          <div class="joined">
            <input
              id={id}
              class={isShown ? "" : "sign-in-token"}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
              autofocus
              ref={takeFocus}
              {...AS_TYPED}
              autocapitalize="none"
              required
            />
            <button class="button" type="button" onClick={() => setShown(!isShown)}>
              {isShown ? "Hide" : "Show"}
            </button>
          </div>
        )}
      </Field>
      {context.session.canRemember ? (
        <div>
          <label class="check">
            <input
              type="checkbox"
              aria-describedby={meaningId}
              checked={isRemembered}
              onChange={({ currentTarget: { checked } }) => setRemembered(checked)}
            />
            Stay signed in on this device
          </label>
          <p class="hint" id={meaningId}>
            The browser keeps the token until you sign out, and anyone who uses it can do what you can. Otherwise the token goes with the
            tab, and comes back if someone reopens it.
          </p>
        </div>
      ) : null}
      <footer>
        {children}
        <button class="button primary" type="submit" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
      </footer>
    </form>
  );
}

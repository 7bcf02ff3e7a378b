import { useState } from "preact/hooks";
import { createClient } from "../../src/client/client.ts";
import type { AppContext } from "../app-context.ts";
import { failureText } from "../failure-text.ts";
import { isTokenText } from "../session.ts";
import { Field } from "../ui/field.tsx";
import { Brand } from "../ui/brand.tsx";
import { takeFocus } from "../ui/focus.ts";

const NO_TOKEN = "That is not a token. A token is one word, such as plant_0aB1…";

/** Asks for a token until the service takes one. */
export function SignIn({ context, reason }: { context: AppContext; reason: string | undefined }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState(reason);
  const [isBusy, setBusy] = useState(false);

  async function signIn(): Promise<void> {
    const text = token.trim();
    if (!isTokenText(text)) return setProblem(NO_TOKEN);
    setBusy(true);
    try {
      const client = createClient({ url: context.base, token: text, fetch: context.reaching.fetch, retries: 1 });
      context.session.signIn(text, await client.session());
    } catch (thrown) {
      setProblem(failureText(thrown));
      setBusy(false);
    }
  }

  return (
    <main class="sign-in">
      <form
        class="sign-in-card"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn();
        }}
      >
        <h1>
          <Brand />
        </h1>
        <p class="sign-in-lead">Sign in with a token.</p>
        {problem === undefined ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <Field label="Token">
          {(id) => (
            <input
              id={id}
              class="sign-in-token"
              value={token}
              onInput={({ currentTarget }) => setToken(currentTarget.value)}
              autofocus
              ref={takeFocus}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              required
            />
          )}
        </Field>
        <button class="button primary" type="submit" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
        <p class="hint">
          When the service first started, it wrote a token to <code>data/first-token</code>. The file stays until a second token with all
          scopes is used. This browser forgets your token when you close the tab.
        </p>
      </form>
    </main>
  );
}

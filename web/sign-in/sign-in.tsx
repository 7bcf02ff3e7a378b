import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { createPageClient } from "../../src/client/page-client.ts";
import type { AppContext } from "../app-context.ts";
import { failureText } from "../failure-text.ts";
import { AS_TYPED, Check, Field, Form, Problem, useAttempt } from "../ui/form.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { takeFocus } from "../ui/focus.ts";
import { Brand } from "../ui/icon.tsx";
import { parseToken } from "./token-text.ts";

export function SignIn({ context, reason }: { context: AppContext; reason: string | undefined }) {
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <h1>
          <Brand />
        </h1>
        <p class="sign-in-lead">Sign in with a token.</p>
        <SignInForm context={context} reason={reason} />
        <p class="hint">
          When the service first started, it wrote a token to <code>data/first-token</code>. The file stays until a second token with all
          scopes is used.
        </p>
      </div>
    </main>
  );
}

/** Asks for another token in front of all that is open, which then goes on. */
export function SignInAgain({ context, reason }: { context: AppContext; reason: string }) {
  return (
    <Dialog title="Sign in again" notices={context.notices}>
      <SignInForm context={context} reason={reason}>
        <Button label="Sign out" onClick={() => context.session.signOut()} />
      </SignInForm>
    </Dialog>
  );
}

const NO_TOKEN = "That is not a token. A token is one word, such as plant_0aB1…";

type SignInFormProps = Readonly<{ context: AppContext; reason: string | undefined; children?: ComponentChildren }>;

function SignInForm({ context: { base, session, reaching }, reason, children }: SignInFormProps) {
  const [text, setText] = useState("");
  const [isRemembered, setRemembered] = useState(false);
  const { problem, setProblem, isBusy, attempt } = useAttempt(failureText, reason);

  async function signIn(): Promise<void> {
    const token = parseToken(text);
    if (token === undefined) return setProblem(NO_TOKEN);
    const client = createPageClient({ url: base, token, fetch: reaching.fetch, retries: 1 });
    session.signIn(token, await client.session(), isRemembered);
  }

  return (
    <Form class="sign-in-form" onSubmit={() => attempt(signIn)}>
      <Problem text={problem} />
      <TokenField text={text} onText={setText} />
      {session.canRemember ? <Remember isRemembered={isRemembered} onRemember={setRemembered} /> : null}
      <footer>
        {children}
        <Button label={isBusy ? "Signing in…" : "Sign in"} class="primary" type="submit" disabled={isBusy} />
      </footer>
    </Form>
  );
}

function TokenField({ text, onText }: Readonly<{ text: string; onText: (text: string) => void }>) {
  const [isShown, setShown] = useState(false);
  return (
    <Field label="Token">
      {(id) => (
        <div class="joined">
          <input
            id={id}
            class={isShown ? "" : "sign-in-token"}
            value={text}
            onInput={({ currentTarget }) => onText(currentTarget.value)}
            autofocus
            ref={takeFocus}
            {...AS_TYPED}
            autocapitalize="none"
            required
          />
          <Button label={isShown ? "Hide" : "Show"} onClick={() => setShown(!isShown)} />
        </div>
      )}
    </Field>
  );
}

function Remember({ isRemembered, onRemember }: Readonly<{ isRemembered: boolean; onRemember: (isRemembered: boolean) => void }>) {
  const meaningId = useId();
  return (
    <div>
      <Check label="Stay signed in on this device" aria-describedby={meaningId} checked={isRemembered} onCheck={onRemember} />
      <p class="hint" id={meaningId}>
        The browser keeps the token until you sign out, and anyone who uses it can do what you can. Otherwise the token goes with the tab,
        and comes back if someone reopens it.
      </p>
    </div>
  );
}

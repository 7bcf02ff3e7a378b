import type { AppContext } from "../app-context.ts";
import { Brand } from "../ui/brand.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Asks for a token until the service takes one. */
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

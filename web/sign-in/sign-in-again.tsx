import type { AppContext } from "../app-context.ts";
import { Dialog } from "../ui/dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Asks for another token in front of all that is open, which then goes on. */
export function SignInAgain({ context, reason }: { context: AppContext; reason: string }) {
  return (
    <Dialog title="Sign in again" notices={context.notices}>
      <SignInForm context={context} reason={reason}>
        <button class="button" type="button" onClick={context.session.signOut}>
          Sign out
        </button>
      </SignInForm>
    </Dialog>
  );
}

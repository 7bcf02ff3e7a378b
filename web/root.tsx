import { useMemo } from "preact/hooks";
import type { Session } from "../src/client/client.ts";
import type { AppContext } from "./app-context.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import { CataloguePage } from "./catalogue/catalogue-page.tsx";
import { Arrival } from "./sign-in/arrival.tsx";
import { SignIn, SignInAgain } from "./sign-in/sign-in.tsx";
import { signedInOf } from "./session.ts";
import { useValue } from "./state.ts";
import { NoticeList } from "./ui/notice-list.tsx";
import { ReachBanner } from "./ui/reach-banner.tsx";

/** The catalogue for those who are signed in, the way in for all others. */
export function Root({ context }: { context: AppContext }) {
  const session = useValue(context.session.state);
  // Who has to sign in again finds all as it was.
  const shown = signedInOf(session);
  return (
    <>
      <ReachBanner state={context.reaching.state} />
      {shown?.who !== undefined ? (
        <SignedIn context={context} who={shown.who} />
      ) : session.kind === "in" ? (
        <Arrival context={context} token={session.token} />
      ) : (
        <SignIn context={context} reason={session.reason} />
      )}
      {shown?.who !== undefined && session.kind === "out" ? <SignInAgain context={context} reason={session.reason ?? ""} /> : null}
      <NoticeList notices={context.notices} />
    </>
  );
}

function SignedIn({ context, who }: { context: AppContext; who: Session }) {
  // Another token goes on with what the one before had: what waits, and what can be undone, is of this catalogue.
  const catalogue = useMemo(() => new Catalogue(context), [context]);
  return <CataloguePage catalogue={catalogue} who={who} />;
}

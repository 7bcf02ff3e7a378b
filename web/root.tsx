import { useMemo } from "preact/hooks";
import type { Session } from "../src/client/client.ts";
import { accessOf } from "./access.ts";
import type { AppContext } from "./app-context.ts";
import { createCatalogue } from "./catalogue/catalogue.ts";
import { CataloguePage } from "./catalogue/catalogue-page.tsx";
import { Arrival } from "./sign-in/arrival.tsx";
import { SignIn } from "./sign-in/sign-in.tsx";
import { useValue } from "./state.ts";
import { NoticeList } from "./ui/notice-list.tsx";
import { ReachBanner } from "./ui/reach-banner.tsx";

/** The catalogue for those who are signed in, the way in for all others. */
export function Root({ context }: { context: AppContext }) {
  const signedIn = useValue(context.session.state);
  return (
    <>
      <ReachBanner state={context.reaching.state} />
      {signedIn.kind === "out" ? (
        <SignIn context={context} reason={signedIn.reason} />
      ) : signedIn.who === undefined ? (
        <Arrival context={context} token={signedIn.token} />
      ) : (
        <SignedIn context={context} token={signedIn.token} who={signedIn.who} />
      )}
      <NoticeList notices={context.notices} />
    </>
  );
}

function SignedIn({ context, token, who }: { context: AppContext; token: string; who: Session }) {
  const catalogue = useMemo(() => createCatalogue(context, { token, access: accessOf(who) }), [context, token, who]);
  return <CataloguePage context={context} catalogue={catalogue} who={who} />;
}

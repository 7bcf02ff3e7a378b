import { useMemo } from "preact/hooks";
import type { AppContext } from "./app-context.ts";
import { createCatalogue } from "./catalogue/catalogue.ts";
import { CataloguePage } from "./catalogue/catalogue-page.tsx";
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
      {signedIn.kind === "in" ? (
        <SignedIn context={context} token={signedIn.token} />
      ) : (
        <SignIn context={context} reason={signedIn.reason} />
      )}
      <NoticeList notices={context.notices} />
    </>
  );
}

function SignedIn({ context, token }: { context: AppContext; token: string }) {
  const catalogue = useMemo(() => createCatalogue(context, token), [context, token]);
  return <CataloguePage context={context} catalogue={catalogue} />;
}

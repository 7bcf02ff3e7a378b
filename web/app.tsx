import { useMemo } from "preact/hooks";
import { createCatalogue } from "./catalogue/catalogue.ts";
import { CataloguePage } from "./catalogue/page.tsx";
import type { Notices } from "./notice.ts";
import type { Reaching } from "./reach.ts";
import type { Session } from "./session.ts";
import { SignIn } from "./signin.tsx";
import { useValue } from "./state.ts";
import { NoticeList } from "./ui/notices.tsx";
import { ReachBanner } from "./ui/reachbanner.tsx";
import type { Views } from "./view.ts";

/** What is made once for the whole page. */
export type Page = Readonly<{
  /** Where the service is, without a slash at the end. */
  base: string;
  session: Session;
  reaching: Reaching;
  notices: Notices;
  views: Views;
}>;

export function App({ page }: { page: Page }) {
  const signedIn = useValue(page.session.state);
  return (
    <>
      <ReachBanner state={page.reaching.state} />
      {signedIn.kind === "in" ? <SignedInPage page={page} token={signedIn.token} /> : <SignIn page={page} reason={signedIn.reason} />}
      <NoticeList notices={page.notices} />
    </>
  );
}

function SignedInPage({ page, token }: { page: Page; token: string }) {
  const catalogue = useMemo(() => createCatalogue(page, token), [page, token]);
  return <CataloguePage page={page} catalogue={catalogue} />;
}

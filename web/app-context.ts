import type { Notices } from "./notices.ts";
import type { Reaching } from "./reach.ts";
import type { Session } from "./session.ts";
import type { Views } from "./view.ts";

/** What is made once and lives as long as the page. */
export type AppContext = Readonly<{
  /** Where the service is, without a slash at the end. */
  base: string;
  session: Session;
  reaching: Reaching;
  notices: Notices;
  views: Views;
}>;

import type { KeptUndo } from "./catalogue/kept-undo.ts";
import type { Notices } from "./notices.ts";
import type { Opening } from "./opening.ts";
import type { Reaching } from "./reach.ts";
import type { PageSession } from "./session.ts";
import type { State } from "./state.ts";
import type { Tabs } from "./tabs.ts";
import type { Views } from "./view.ts";

/** What is made once and lives as long as the page. */
export type AppContext = Readonly<{
  /** Where the service is, without a slash at the end. */
  base: string;
  session: PageSession;
  reaching: Reaching;
  notices: Notices;
  keptUndo: KeptUndo;
  views: Views;
  opening: Opening;
  tabs: Tabs;
  /** Whether rows are low. */
  compactRows: State<boolean>;
}>;

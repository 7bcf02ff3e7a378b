import { render } from "preact";
import { watchReach } from "./reach.ts";
import { createNotices } from "./notices.ts";
import { createSession } from "./session.ts";
import { Root } from "./root.tsx";
import { createViews } from "./view.ts";

/** Where the service is: where the page came from, with the path under which a proxy serves it, if any. */
const base = new URL(".", location.href).href.replace(/\/+$/, "");

const EXPIRED = "The service no longer accepts this token: it has expired or was revoked. Sign in with another one.";

const session = createSession(sessionStorage);
const reaching = watchReach({
  window,
  livenessUrl: `${base}/livez`,
  onAnswer(response) {
    if (response.status === 401 && session.state.get().kind === "in") session.signOut(EXPIRED);
  },
});
const context = { base, session, reaching, notices: createNotices(), views: createViews(window) };
render(<Root context={context} />, document.getElementById("app")!);

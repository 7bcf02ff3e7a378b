import { render } from "preact";
import { watchReach } from "./reach.ts";
import { createNotices } from "./notices.ts";
import { createOpening } from "./opening.ts";
import { createKeptUndo } from "./catalogue/kept-undo.ts";
import { noteTime } from "./service-time.ts";
import { createSession, isGone } from "./session.ts";
import { Root } from "./root.tsx";
import { deviceStorage, tabStorage } from "./storage.ts";
import { openTabs } from "./tabs.ts";
import { createViews } from "./view.ts";

/*
 * The page says `translate="no"`: a browser that translates it puts other texts in the place of those that the page changes later, and rows
 * would show the plants that were there before. Here, because a comment there would be sent.
 */

/** Where the service is: where the page came from, with the path under which a proxy serves it, if any. */
const base = new URL(".", location.href).href.replace(/\/+$/, "");

const EXPIRED = "The service no longer accepts this token: it has expired or was revoked. Sign in with another one.";

const session = createSession(tabStorage(), deviceStorage());
const reaching = watchReach({
  window,
  livenessUrl: `${base}/livez`,
  onAnswer(response, { headers }) {
    noteTime(response);
    if (response.status === 401) session.expire(new Headers(headers).get("authorization"), EXPIRED);
  },
});
const notices = createNotices();
const keptUndo = createKeptUndo(tabStorage());
session.state.watch(() => {
  if (!isGone(session.state.get())) return;
  notices.withdrawActions();
  keptUndo.keep([]);
});
const context = {
  base,
  session,
  reaching,
  notices,
  keptUndo,
  views: createViews(window),
  opening: createOpening(window),
  tabs: openTabs(base),
};
// A key that is held down presses what comes under it next, such as the button that asks once more.
addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
});
// The second half of a double click would press what came into the place of the button that the first half took away.
let pressed: Element | null = null;
addEventListener(
  "click",
  (event) => {
    const button = (event.target as Element).closest("button");
    if (event.detail < 2) pressed = button;
    if (button === pressed) return;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);
// The newest of what the page needs. Where a browser lacks it, what stands there until now stays: it says so.
if ("any" in AbortSignal) {
  const app = document.getElementById("app")!;
  app.replaceChildren();
  render(<Root context={context} />, app);
}

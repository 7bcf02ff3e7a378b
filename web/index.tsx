import { render } from "preact";
import { ERROR_NUMBERS } from "../src/client/page-client.ts";
import { watchReach } from "./reach.ts";
import { Notices } from "./notices.ts";
import { Opening } from "./opening.ts";
import { KeptUndo } from "./catalogue/kept-undo.ts";
import { noteTime } from "./time.ts";
import { PageSession, isGone } from "./session.ts";
import { Root } from "./root.tsx";
import { openCompactRows } from "./row-height.ts";
import { deviceStorage, tabStorage } from "./storage.ts";
import { openTabs } from "./tabs.ts";
import { Views } from "./view.ts";

/*
 * The page says `translate="no"`: a browser that translates it puts other texts in the place of those that the page changes later, and rows
 * would show the plants that were there before. Here, because a comment there would be sent.
 */

/** Where the service is: where the page came from, with the path under which a proxy serves it, if any. */
const base = new URL(".", location.href).href.replace(/\/+$/, "");

const EXPIRED = "The service no longer accepts this token: it has expired or was revoked. Sign in with another one.";

const session = new PageSession(tabStorage(), deviceStorage());
const reaching = watchReach({
  window,
  livenessUrl: `${base}/livez`,
  onAnswer(response, { headers }) {
    noteTime(response);
    if (response.status === 401) void expireIfRefused(response.clone(), new Headers(headers));
  },
});
/** A proxy that wants a sign-in of its own says 401 too: it knows nothing of the token. */
async function expireIfRefused(response: Response, sent: Headers): Promise<void> {
  const body = (await response.json().catch(() => undefined)) as { error?: number } | undefined;
  if (body?.error === ERROR_NUMBERS.invalid_token) session.expire(sent.get("authorization"), EXPIRED);
}
const notices = new Notices();
const keptUndo = new KeptUndo(tabStorage());
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
  views: new Views(window),
  opening: new Opening(window),
  tabs: openTabs(base),
  compactRows: openCompactRows(deviceStorage()),
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

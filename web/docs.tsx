import { render } from "preact";
import { PageSession } from "./session.ts";
import { canKeepDigits, parseExact } from "./docs/digits.ts";
import { toReference } from "./docs/document.ts";
import { ReferencePage } from "./docs/reference-page.tsx";
import { deviceStorage, tabStorage } from "./storage.ts";

/** The reference, or why there is none. */
async function start(): Promise<void> {
  if (!canKeepDigits()) throw new Error("This browser rounds ids beyond 2^53: use a newer one.");
  const response = await fetch(new URL("./openapi.json", document.baseURI));
  if (!response.ok) throw new Error(`The contract cannot be read (${response.status}): load the page again.`);
  const reference = toReference(parseExact(await response.text()));
  render(<ReferencePage reference={reference} session={new PageSession(tabStorage(), deviceStorage())} />, document.body);
  // What the address names was not there yet when the browser looked for it.
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

start().catch((reason: unknown) => {
  render(<p role="alert">{reason instanceof Error ? reason.message : String(reason)}</p>, document.body);
});

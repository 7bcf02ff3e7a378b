import { useState } from "preact/hooks";

type FirstRequestProps = Readonly<{ /** Of the one who is signed in. */ token: string | undefined }>;

/** What to paste into a terminal to see plants. The token is in sight only if people ask for it. */
export function FirstRequest({ token }: FirstRequestProps) {
  const [isShown, setShown] = useState(false);
  const shown = isShown ? token : undefined;
  const url = new URL("./plants?limit=3", document.baseURI).href;
  return (
    <section aria-labelledby="first-request">
      <h2 id="first-request">First request</h2>
      <p>
        {shown === undefined
          ? "Paste this into a terminal, in the folder where the service was started for the first time:"
          : "Paste this into a terminal. It holds your token: show it to no one."}
      </p>
      <pre tabIndex={0} translate={false}>
        {`curl -H "Authorization: Bearer ${shown ?? "$(cat data/first-token)"}" '${url}'`}
      </pre>
      {token === undefined ? (
        <p class="docs-hint">
          Another token? <a href="#token">Give it</a>, and it can stand here.
        </p>
      ) : (
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? "Hide my token" : "Put my token in"}
        </button>
      )}
    </section>
  );
}

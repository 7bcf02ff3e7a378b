import { useEffect, useState } from "preact/hooks";
import type { PageSession } from "../session.ts";
import { parseToken } from "../sign-in/token-text.ts";
import { useValue } from "../state.ts";
import type { Reference } from "./document.ts";
import { FirstRequest } from "./first-request.tsx";
import { Section } from "./operation.tsx";
import { Prose } from "./prose.tsx";
import { Fields } from "./shape.tsx";

/** The whole reference, made from the contract that the service serves. */
export function ReferencePage({ reference, session }: Readonly<{ reference: Reference; session: PageSession }>) {
  const { title, version, description, groups, schemas } = reference;
  const now = useValue(session.state);
  const token = now.kind === "in" ? now.token : undefined;

  return (
    <>
      <header>
        <h1>
          {title} <small>interface {version}</small>
        </h1>
        <p>
          <a href="./">The catalogue</a> · <a href="./openapi.json">openapi.json</a>
        </p>
        <TokenField session={session} isSignedIn={token !== undefined} />
        <FirstRequest token={token} />
      </header>
      <Operations groups={groups} />
      <main>
        <Prose text={description} />
        {groups.map(({ name, description: about, operations }) => (
          <div key={name}>
            <h2>{name}</h2>
            <Prose text={about} />
            {operations.map((operation) => (
              <Section key={operation.id} operation={operation} schemas={schemas} token={token} />
            ))}
          </div>
        ))}
        <h2>Schemas</h2>
        {Object.entries(schemas).map(([name, schema]) => (
          <article key={name} id={`shape-${name}`} aria-labelledby={`shape-${name}-title`}>
            <h3 id={`shape-${name}-title`}>{name}</h3>
            <Fields schema={schema} schemas={schemas} />
          </article>
        ))}
      </main>
    </>
  );
}

function Operations({ groups }: Pick<Reference, "groups">) {
  return (
    <nav aria-label="Operations">
      {groups.map(({ name, operations }) => (
        <div key={name}>
          <h2>{name}</h2>
          <ul translate={false}>
            {operations.map(({ id, method, path, summary }) => (
              <li key={id}>
                <a href={`#${id}`} title={summary}>
                  <span class={method === "DELETE" ? "docs-method docs-delete" : "docs-method"}>{method}</span> {path}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** The token of “Try it”: that of the catalogue, as long as someone is signed in there, or one that is typed here. */
function TokenField({ session, isSignedIn }: Readonly<{ session: PageSession; isSignedIn: boolean }>) {
  const [typed, setTyped] = useState<string>();
  useEffect(
    () =>
      session.state.watch(() => {
        // A sign-out in another tab takes the token away here too; what is no token yet is still being typed.
        if (session.state.get().kind === "out")
          setTyped((text) => (text !== undefined && parseToken(text) === undefined ? text : undefined));
      }),
    [session],
  );

  function type(text: string): void {
    const parsed = parseToken(text);
    setTyped(parsed ?? text.trim());
    if (parsed === undefined) session.signOut();
    else session.signIn(parsed);
  }

  if (isSignedIn && typed === undefined)
    return (
      <p>
        Signed in: “Try it” sends your token, to this service only.{" "}
        <button type="button" onClick={() => session.signOut()}>
          Sign out
        </button>
      </p>
    );
  return (
    <div class="docs-field">
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        value={typed ?? ""}
        aria-describedby="token-about"
        onInput={(event) => type(event.currentTarget.value)}
      />
      <small id="token-about">For “Try it”. Kept in this tab until it is closed, and sent to this service only.</small>
    </div>
  );
}

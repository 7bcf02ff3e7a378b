import { useState } from "preact/hooks";
import type { PageSession } from "../session.ts";
import { parseToken } from "../sign-in/token-text.ts";
import type { Reference } from "./document.ts";
import { Section } from "./operation.tsx";
import { Prose } from "./prose.tsx";
import { Fields } from "./shape.tsx";

/** The whole reference, made from the contract that the service serves. */
export function ReferencePage({ reference, session }: Readonly<{ reference: Reference; session: PageSession }>) {
  const { title, version, description, groups, schemas } = reference;
  const kept = session.state.get();
  const [token, setToken] = useState(kept.kind === "in" ? kept.token : "");

  function keep(text: string): void {
    const typed = parseToken(text);
    setToken(typed ?? text.trim());
    if (typed === undefined) session.signOut();
    else session.signIn(typed);
  }

  return (
    <>
      <header>
        <h1>
          {title} <small>{version}</small>
        </h1>
        <p>
          <a href="./">The catalogue</a> · <a href="./openapi.json">openapi.json</a>
        </p>
        <div class="docs-field">
          <label for="token">Token</label>
          <input
            id="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={token}
            aria-describedby="token-about"
            onInput={(event) => keep(event.currentTarget.value)}
          />
          <small id="token-about">For “Try it”. Kept in this tab until it is closed, and sent to this service only.</small>
        </div>
      </header>
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
      <main>
        <Prose text={description} />
        {groups.map(({ name, description: about, operations }) => (
          <div key={name}>
            <h2>{name}</h2>
            <Prose text={about} />
            {operations.map((operation) => (
              <Section key={operation.id} operation={operation} schemas={schemas} token={token === "" ? undefined : token} />
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

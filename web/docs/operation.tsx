import { useState } from "preact/hooks";
import { Attempt } from "./attempt.tsx";
import { examplesOf, exampleText, limitsText } from "./document.ts";
import type { Answer, Media, Operation, Reference } from "./document.ts";
import { Code, Prose, Words } from "./prose.tsx";
import { Entry, Fields } from "./shape.tsx";

type SectionProps = Readonly<{ operation: Operation; schemas: Reference["schemas"]; token: string | undefined }>;

/** All that is to be known of an operation, and a form that sends it. */
export function Section({ operation, schemas, token }: SectionProps) {
  const { id, method, path, summary, description, scope, parameters, bodies, answers } = operation;
  const [isTrying, setIsTrying] = useState(false);
  return (
    <article id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <span class={method === "DELETE" ? "docs-method docs-delete" : "docs-method"}>{method}</span> <Code>{path}</Code>{" "}
        <span class="docs-summary">{summary}</span>
      </h3>
      <p class="docs-scope">{scopeText(scope)}</p>
      <Prose text={description} />
      {parameters.length > 0 && (
        <>
          <h4>Parameters</h4>
          <dl class="docs-fields">
            {parameters.map(({ name, in: place, required = false, schema, description: about }) => {
              const note = [place, limitsText(schema)].filter(Boolean).join(", ");
              return <Entry key={name} name={name} schema={schema} isRequired={required} note={note} about={about} />;
            })}
          </dl>
        </>
      )}
      {Object.entries(bodies).map(([type, media]) => (
        <div key={type}>
          <h4>
            Body as <Code>{type}</Code>
          </h4>
          <Content media={media} schemas={schemas} />
        </div>
      ))}
      <h4>Responses</h4>
      {answers.map(([status, answer]) => (
        <AnswerPart key={status} status={status} answer={answer} schemas={schemas} />
      ))}
      <details open={isTrying} onToggle={(event) => setIsTrying(event.currentTarget.open)}>
        <summary>Try it</summary>
        {isTrying && <Attempt operation={operation} token={token} />}
      </details>
    </article>
  );
}

function scopeText(scope: string | undefined) {
  if (scope === undefined) return "needs no token";
  if (scope === "any") return "any valid token";
  return (
    <>
      scope <Code>{scope}</Code>
    </>
  );
}

function AnswerPart({ status, answer, schemas }: Readonly<{ status: string; answer: Answer; schemas: Reference["schemas"] }>) {
  const { description, headers = {}, content = {} } = answer;
  return (
    <details>
      <summary>
        <strong class={Number(status) < 400 ? "docs-good" : "docs-bad"}>{status}</strong> <Words text={description} />
      </summary>
      <dl class="docs-fields">
        {Object.entries(headers).map(([name, { description: about, example }]) => (
          <Entry key={name} name={name} note={example === undefined ? "" : `such as ${exampleText(example)}`} about={about} />
        ))}
      </dl>
      {Object.entries(content).map(([type, media]) => (
        <div key={type}>
          <h5>
            <Code>{type}</Code>
          </h5>
          <Content media={media} schemas={schemas} />
        </div>
      ))}
    </details>
  );
}

function Content({ media, schemas }: Readonly<{ media: Media; schemas: Reference["schemas"] }>) {
  return (
    <>
      <Fields schema={media.schema} schemas={schemas} />
      {examplesOf(media).map(([name, text]) => (
        <figure key={name}>
          <figcaption>{name}</figcaption>
          <pre tabIndex={0} translate={false}>
            {text}
          </pre>
        </figure>
      ))}
    </>
  );
}

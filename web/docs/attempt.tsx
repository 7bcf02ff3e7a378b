import { useState } from "preact/hooks";
import { layOut } from "./digits.ts";
import { examplesOf, exampleText } from "./document.ts";
import type { Operation, Parameter } from "./document.ts";
import { curlLine, send, toOutgoing } from "./send.ts";
import type { Answered, FilledForm } from "./send.ts";

type Outcome = Readonly<
  { kind: "none" } | { kind: "waiting" } | { kind: "answered"; answered: Answered } | { kind: "failed"; reason: string }
>;

/** A form that sends the operation for real, and shows the answer as it came. */
export function Attempt({ operation, token }: Readonly<{ operation: Operation; token: string | undefined }>) {
  const [filled, setFilled] = useState<FilledForm>(() => toFilled(operation));
  const [outcome, setOutcome] = useState<Outcome>({ kind: "none" });
  const outgoing = toOutgoing(operation, filled, document.baseURI);
  const isGuarded = operation.scope !== undefined;

  async function attempt(event: Event): Promise<void> {
    event.preventDefault();
    setOutcome({ kind: "waiting" });
    const next = await send(outgoing, isGuarded ? token : undefined).then(
      (answered): Outcome => ({ kind: "answered", answered }),
      (reason: unknown): Outcome => ({ kind: "failed", reason: String(reason) }),
    );
    setOutcome(next);
  }

  return (
    <form class="docs-attempt" translate={false} onSubmit={(event) => void attempt(event)}>
      {operation.parameters.map((parameter) => (
        <Input
          key={parameter.name}
          id={`${operation.id}-${parameter.name}`}
          parameter={parameter}
          value={filled.parameters[parameter.name] ?? ""}
          onValue={(value) => setFilled({ ...filled, parameters: { ...filled.parameters, [parameter.name]: value } })}
        />
      ))}
      {filled.type !== undefined && <Body operation={operation} filled={filled} onFilled={setFilled} />}
      {isGuarded && token === undefined && (
        <p class="docs-hint">
          Without a token the response is 401: <a href="#token">give one</a>.
        </p>
      )}
      <button type="submit" disabled={outcome.kind === "waiting"}>
        Send
      </button>
      <details>
        <summary>As a command with curl</summary>
        <pre tabIndex={0}>{curlLine(outgoing, isGuarded)}</pre>
      </details>
      <p role="status">
        {outcome.kind === "waiting" && "Waiting for the response…"}
        {outcome.kind === "failed" && <span class="docs-bad">There was no response: is the service running? ({outcome.reason})</span>}
        {outcome.kind === "answered" && (
          <strong class={outcome.answered.status < 400 ? "docs-good" : "docs-bad"}>{outcome.answered.status}</strong>
        )}
      </p>
      {/* Not read out at once: it may be long. */}
      {outcome.kind === "answered" && <Shown answered={outcome.answered} />}
    </form>
  );
}

type InputProps = Readonly<{ id: string; parameter: Parameter; value: string; onValue: (value: string) => void }>;

/** A parameter to fill in: what it means is said above. */
function Input({ id, parameter: { name, in: place, required = false }, value, onValue }: InputProps) {
  return (
    <div class="docs-field">
      <label for={id}>
        {name} <small>{required ? `${place}, required` : place}</small>
      </label>
      <input
        id={id}
        value={value}
        required={required}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  );
}

type BodyProps = Readonly<{ operation: Operation; filled: FilledForm; onFilled: (filled: FilledForm) => void }>;

function Body({ operation: { id, bodies }, filled, onFilled }: BodyProps) {
  const examples = Object.entries(bodies).flatMap(([type, media]) => examplesOf(media).map(([name, body]) => ({ type, name, body })));
  return (
    <div class="docs-field">
      <label for={`${id}-body`}>body</label>
      <select
        aria-label="An example for the body"
        onChange={(event) => {
          const chosen = examples[event.currentTarget.selectedIndex];
          if (chosen) onFilled({ ...filled, type: chosen.type, body: chosen.body });
        }}
      >
        {examples.map(({ type, name }) => (
          <option key={`${type} ${name}`}>
            {type}: {name}
          </option>
        ))}
      </select>
      <textarea
        id={`${id}-body`}
        rows={Math.min(12, filled.body.split("\n").length + 1)}
        spellcheck={false}
        value={filled.body}
        onInput={(event) => onFilled({ ...filled, body: event.currentTarget.value })}
      />
    </div>
  );
}

function Shown({ answered: { headers, body, isCut } }: Readonly<{ answered: Answered }>) {
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  return (
    <>
      <details>
        <summary>Response headers</summary>
        <pre tabIndex={0}>{headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
      </details>
      {body !== "" && <pre tabIndex={0}>{type === "application/json" && !isCut ? layOut(body) : body}</pre>}
      {isCut && <p class="docs-hint">There is more: the page shows the first {body.length.toLocaleString()} characters.</p>}
    </>
  );
}

/** What the form begins with: what must be there, as in the examples, and nothing else. */
function toFilled({ parameters, bodies }: Operation): FilledForm {
  const needed = parameters.filter(({ required }) => required).map(({ name, example }) => [name, exampleText(example ?? "")] as const);
  const [[type, media] = []] = Object.entries(bodies);
  return { parameters: Object.fromEntries(needed), type, body: (media && examplesOf(media)[0]?.[1]) ?? "" };
}

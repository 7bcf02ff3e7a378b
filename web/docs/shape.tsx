import type { ComponentChildren } from "preact";
import { fieldsOf, limitsText, nameOf, typeText } from "./document.ts";
import type { Reference, Schema } from "./document.ts";
import { Code, Words } from "./prose.tsx";

/** A type in a few words, with a link to where it is described. */
function TypeName({ schema }: Readonly<{ schema: Schema }>) {
  const { $ref, items } = schema;
  if ($ref) return <a href={`#shape-${nameOf($ref)}`}>{nameOf($ref)}</a>;
  if (items) {
    return (
      <>
        list of <TypeName schema={items} />
      </>
    );
  }
  return <>{typeText(schema)}</>;
}

type EntryProps = Readonly<{
  name: string;
  schema?: Schema;
  isRequired?: boolean;
  note: string;
  about: string | undefined;
  children?: ComponentChildren;
}>;

/** A name in a list of them, and what it means. */
export function Entry({ name, schema, isRequired = false, note, about = "", children }: EntryProps) {
  return (
    <div>
      <dt>
        <Code>{name}</Code> {schema && <TypeName schema={schema} />} {isRequired && <em>required</em>} <small>{note}</small>
      </dt>
      <dd>
        <Words text={about} />
        {children}
      </dd>
    </div>
  );
}

/** The fields of an object; what is no object in a line. */
export function Fields({ schema, schemas }: Readonly<{ schema: Schema; schemas: Reference["schemas"] }>) {
  const fields = fieldsOf(schema, schemas);
  if (fields.length === 0) {
    return (
      <p>
        <TypeName schema={schema} />
      </p>
    );
  }
  return (
    <dl class="docs-fields">
      {fields.map(({ name, schema: member, isRequired }) => (
        <Entry key={name} name={name} schema={member} isRequired={isRequired} note={limitsText(member)} about={member.description}>
          {member.items?.properties && <Fields schema={member.items} schemas={schemas} />}
        </Entry>
      ))}
    </dl>
  );
}
